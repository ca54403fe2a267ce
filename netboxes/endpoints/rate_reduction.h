// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "ns3/sequence-number.h"
#include "ns3/tcp-recovery-ops.h"

#include <cstdint>

namespace netboxit
{

/// Proportional rate reduction (RFC 9937): in recovery the sender sends so much for each byte that has been delivered that the
/// threshold is on its way at the end. ns-3.44's counts what is delivered twice with selective acknowledgements, and so fills a
/// full queue further: what is lost then is a second loss.
class RateReduction : public ns3::TcpRecoveryOps
{
  public:
    static ns3::TypeId GetTypeId();

    std::string GetName() const override;
    void EnterRecovery(ns3::Ptr<ns3::TcpSocketState> state,
                       std::uint32_t duplicates,
                       std::uint32_t unacknowledged,
                       std::uint32_t delivered) override;
    void DoRecovery(ns3::Ptr<ns3::TcpSocketState> state, std::uint32_t delivered, bool isDuplicate) override;
    void ExitRecovery(ns3::Ptr<ns3::TcpSocketState> state) override;
    void UpdateBytesSent(std::uint32_t size) override;
    ns3::Ptr<ns3::TcpRecoveryOps> Fork() override;

  private:
    std::int64_t m_delivered{0}; ///< prr_delivered, bytes
    std::int64_t m_sent{0};      ///< prr_out, bytes
    std::int64_t m_atLoss{0};    ///< RecoverFS, bytes
    /// The acknowledgement that was counted as a duplicate one: ns-3 tells of one that is partial, too, once more.
    ns3::SequenceNumber32 m_counted;
};

} // namespace netboxit
