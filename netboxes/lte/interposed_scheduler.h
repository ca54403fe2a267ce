// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "ns3/ff-mac-csched-sap.h"
#include "ns3/ff-mac-sched-sap.h"
#include "ns3/ff-mac-scheduler.h"

#include <functional>
#include <memory>

namespace netboxit
{

/// A MAC scheduler that stands between an eNodeB's MAC and one of ns-3's schedulers, which does the work. All that goes either way (in the
/// terms of the Small Cell Forum's FAPI MAC scheduler interface, as ns-3 has it) passes through here, and a derived class may look at it,
/// change it, or keep it back.
class InterposedScheduler : public ns3::FfMacScheduler
{
  public:
    static ns3::TypeId GetTypeId();
    InterposedScheduler();
    ~InterposedScheduler() override;

    void SetFfMacCschedSapUser(ns3::FfMacCschedSapUser* user) override;
    void SetFfMacSchedSapUser(ns3::FfMacSchedSapUser* user) override;
    ns3::FfMacCschedSapProvider* GetFfMacCschedSapProvider() override;
    ns3::FfMacSchedSapProvider* GetFfMacSchedSapProvider() override;
    void SetLteFfrSapProvider(ns3::LteFfrSapProvider* provider) override;
    ns3::LteFfrSapUser* GetLteFfrSapUser() override;

    /// A UE has reported the quality of the whole channel, of its first layer, as an index (CQI, TS 36.213, 7.2.3).
    using QualityReported = std::function<void(std::uint16_t rnti, int quality)>;

    void SetQualityReported(QualityReported reported)
    {
        m_qualityReported = std::move(reported);
    }

  protected:
    using ChannelConfiguration = ns3::FfMacCschedSapProvider::CschedLcConfigReqParameters;
    using BufferReport = ns3::FfMacSchedSapProvider::SchedDlRlcBufferReqParameters;
    using ControlReport = ns3::FfMacSchedSapProvider::SchedUlMacCtrlInfoReqParameters;
    using DownlinkGrants = ns3::FfMacSchedSapUser::SchedDlConfigIndParameters;
    using UplinkGrants = ns3::FfMacSchedSapUser::SchedUlConfigIndParameters;

    void DoDispose() override;
    void NotifyConstructionCompleted() override;

    /// What the scheduler that does the work is told.
    ns3::FfMacSchedSapProvider& Inner() const;

    /// Logical channels of a UE come into being: passed on afterwards, as it is then.
    virtual void Configures(ChannelConfiguration& channels) = 0;
    virtual void ReleasesChannel(std::uint16_t rnti, std::uint8_t channel) = 0;
    virtual void ReleasesTerminal(std::uint16_t rnti) = 0;
    /// What waits in a downlink queue, and what UEs say of their own queues: not passed on.
    virtual void Reports(const BufferReport& report) = 0;
    virtual void ReportsUplink(const ControlReport& report) = 0;
    /// A subframe is about to be shared out.
    virtual void BeforeDownlink() = 0;
    virtual void BeforeUplink() = 0;
    /// A subframe was shared out: passed on afterwards, as it is then.
    virtual void Granted(DownlinkGrants& downlink) = 0;
    virtual void Granted(UplinkGrants& uplink) = 0;

  private:
    class Control;
    class Requests;
    class Indications;

    QualityReported m_qualityReported;
    std::string m_innerType;
    bool m_harq{};
    ns3::Ptr<ns3::FfMacScheduler> m_inner;
    std::unique_ptr<Control> m_control;
    std::unique_ptr<Requests> m_requests;
    std::unique_ptr<Indications> m_indications;
};

} // namespace netboxit
