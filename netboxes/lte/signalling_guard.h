// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "network.h"

#include "ns3/lte-enb-rrc.h"
#include "ns3/lte-rrc-sap.h"
#include "ns3/lte-ue-rrc.h"

#include <functional>
#include <initializer_list>

namespace netboxit
{

/// Stands between a UE's RRC and ns-3's ideal signalling, and keeps from an eNodeB what it does not expect, on which ns-3 would abort: what
/// a UE sends that the eNodeB has given up (a handover or connection that took longer than the eNodeB's timers), or that it takes for
/// another one (a random access preamble that was given to somebody else meanwhile). Nor do measurements pass from or to a radio that is off,
/// by which a UE would be handed over from a dead eNodeB.
class SignallingGuard : public ns3::LteUeRrcSapUser
{
  public:
    /// `orphaned` is called when the UE believes to have a connection of which the eNodeB knows nothing.
    SignallingGuard(StationId terminal, const LteNetwork& network, std::function<void()> orphaned);
    SignallingGuard(const SignallingGuard&) = delete;
    SignallingGuard& operator=(const SignallingGuard&) = delete;
    ~SignallingGuard() override;

    void Setup(SetupParameters parameters) override;
    void SendRrcConnectionRequest(RrcConnectionRequest message) override;
    void SendRrcConnectionSetupCompleted(RrcConnectionSetupCompleted message) override;
    void SendRrcConnectionReconfigurationCompleted(RrcConnectionReconfigurationCompleted message) override;
    void SendRrcConnectionReestablishmentRequest(RrcConnectionReestablishmentRequest message) override;
    void SendRrcConnectionReestablishmentComplete(RrcConnectionReestablishmentComplete message) override;
    void SendMeasurementReport(MeasurementReport message) override;
    void SendIdealUeContextRemoveRequest(std::uint16_t rnti) override;

  private:
    using State = ns3::UeManager::State;

    /// Whether the serving eNodeB has a context with that RNTI, in one of these states, and it is that of this UE (or yet of nobody).
    bool Expects(std::uint16_t rnti, std::initializer_list<State> states) const;

    StationId m_terminal;
    const LteNetwork& m_network;
    ns3::Ptr<ns3::LteUeRrc> m_rrc; ///< kept, because its device forgets it when the simulation ends
    ns3::LteUeRrcSapUser* m_signalling; ///< of ns-3, owned by the UE's RRC
    std::function<void()> m_orphaned;
};

} // namespace netboxit
