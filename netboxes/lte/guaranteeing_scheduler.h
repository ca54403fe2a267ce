// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "guarantee.h"

#include "ns3/ff-mac-csched-sap.h"
#include "ns3/ff-mac-sched-sap.h"
#include "ns3/ff-mac-scheduler.h"

#include <array>
#include <functional>
#include <map>
#include <memory>

namespace netboxit
{

/// A MAC scheduler that stands between an eNodeB's MAC and one of ns-3's schedulers and upholds guaranteed bit rates, which those do not:
/// of them pss alone looks at guarantees, in the downlink, and the uplink is round robin with all. In a subframe in which a guaranteed
/// bearer has waited too long (Guarantee::IsUrgent) the scheduler is shown the queues of the urgent bearers of the highest precedence
/// only, and gives them all resource blocks. In other subframes it sees everything.
///
/// It also withholds allocations that are too small for ns-3's acknowledged RLC, which aborts on them.
class GuaranteeingScheduler : public ns3::FfMacScheduler
{
  public:
    /// The precedence of a bearer by the UE's RNTI and the logical channel.
    using PrecedenceOf = std::function<int(std::uint16_t rnti, std::uint8_t channel)>;

    static ns3::TypeId GetTypeId();
    GuaranteeingScheduler();
    ~GuaranteeingScheduler() override;

    /// Tells the allocation and retention priority of bearers that are set up from now on.
    void SetArp(PrecedenceOf arp)
    {
        m_arp = std::move(arp);
    }

    void SetFfMacCschedSapUser(ns3::FfMacCschedSapUser* user) override;
    void SetFfMacSchedSapUser(ns3::FfMacSchedSapUser* user) override;
    ns3::FfMacCschedSapProvider* GetFfMacCschedSapProvider() override;
    ns3::FfMacSchedSapProvider* GetFfMacSchedSapProvider() override;
    void SetLteFfrSapProvider(ns3::LteFfrSapProvider* provider) override;
    ns3::LteFfrSapUser* GetLteFfrSapUser() override;

  protected:
    void DoDispose() override;
    void NotifyConstructionCompleted() override;

  private:
    class Control;
    class Requests;
    class Indications;

    using BufferReport = ns3::FfMacSchedSapProvider::SchedDlRlcBufferReqParameters;

    /// One logical channel in the downlink.
    struct Channel
    {
        BufferReport report; ///< the latest, less what was served since
        Guarantee guarantee;
        bool isHidden{};
    };

    /// One UE in the uplink, as its buffer status reports show it: by logical channel group, 1 for guaranteed bearers, 2 for others.
    struct Terminal
    {
        std::array<std::uint64_t, 4> waiting{}; ///< bytes
        Guarantee guarantee;                    ///< of all its guaranteed bearers together
        std::size_t channels{};
        enum class Shown
        {
            All,
            Guaranteed,
            Nothing,
        } shown{Shown::All};
    };

    void Configure(const ns3::FfMacCschedSapProvider::CschedLcConfigReqParameters& request);
    void Release(std::uint16_t rnti);
    void Report(const BufferReport& report);
    void ReportUplink(const ns3::FfMacSchedSapProvider::SchedUlMacCtrlInfoReqParameters& report);
    void BeforeDownlink();
    void BeforeUplink();
    void Granted(ns3::FfMacSchedSapUser::SchedDlConfigIndParameters& downlink);
    void Granted(ns3::FfMacSchedSapUser::SchedUlConfigIndParameters& uplink);
    void Show(std::uint16_t rnti, const Terminal& terminal);

    std::string m_innerType;
    bool m_harq{};
    bool m_acknowledged{};
    bool m_upholds{};
    PrecedenceOf m_arp;
    ns3::Ptr<ns3::FfMacScheduler> m_inner;
    std::unique_ptr<Control> m_control;
    std::unique_ptr<Requests> m_requests;
    std::unique_ptr<Indications> m_indications;
    std::map<std::pair<std::uint16_t, std::uint8_t>, Channel> m_channels; ///< by RNTI and channel
    std::map<std::uint16_t, Terminal> m_terminals;                      ///< by RNTI
    bool m_hasGuarantees{};
    bool m_exclusiveDownlink{}; ///< in this subframe some stand back
};

} // namespace netboxit
