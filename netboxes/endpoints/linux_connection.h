// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "burst_pacing.h"
#include "rack.h"
#include "tcp_connection.h"

#include <memory>

namespace netboxit
{

/// A connection whose sender reacts as Linux's: with selective acknowledgements it finds losses by RACK and repairs them as the
/// rate reduction permits (tcp_fastretrans_alert), its window grows while it is used (tcp_cwnd_validate), and it paces in
/// bursts.
class LinuxConnection : public TcpConnection
{
  public:
    static ns3::TypeId GetTypeId();
    using TcpConnection::TcpConnection;
    ~LinuxConnection() override;

    void Configure(const TcpOptions& options, std::uint16_t mtu, std::int64_t randomStream) override;
    int Send(ns3::Ptr<ns3::Packet> data, std::uint32_t flags) override;
    std::uint32_t UsefulBacklog() const override;

  protected:
    ns3::Ptr<TcpSocketBase> Fork() override;
    std::uint32_t AvailableWindow() const override;
    std::uint32_t SendDataPacket(ns3::SequenceNumber32 sequence, std::uint32_t most, bool withAck) override;
    void EstimateRtt(const ns3::TcpHeader& header) override;
    void ProcessAck(const ns3::SequenceNumber32& acknowledged,
                    bool hasArrivals,
                    std::uint32_t delivered,
                    const ns3::SequenceNumber32& head,
                    bool hasData) override;

  private:
    void ObserveArrivals();
    /// Marks what is lost, and looks again when it is time to. Returns how much it found, bytes.
    std::uint32_t DetectLosses();
    void LookAgain();
    bool IsReducing() const;
    void BeginRecovery(std::uint32_t delivered);
    void EndRecovery();
    void Enter(ns3::TcpSocketState::TcpCongState_t state);
    /// Returns that of the last segment; 0: none.
    ns3::Time TakeRoundTrips(bool isNew);
    void TakeArrivals(std::uint32_t delivered, bool isNew, const ns3::Time& roundTrip);
    void NoteUse();
    /// Segments that were never sent, as far as the window permits and nothing is to be sent again.
    void SendNew();
    void UpdateRate();
    void Resume();

    std::shared_ptr<Rack> m_rack;
    ns3::EventId m_reordering; ///< looks again for losses
    ns3::SequenceNumber32 m_reducedUntil; ///< where the last reduction for an echo of congestion ends

    // How much of the window the last round trip used.
    bool m_usesWindow{false};
    std::uint32_t m_used{0};
    ns3::SequenceNumber32 m_usedUntil;

    bool m_paces{false};
    BurstPacing m_pacing;
    ns3::EventId m_burst; ///< the next one
};

} // namespace netboxit
