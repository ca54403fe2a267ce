// SPDX-License-Identifier: GPL-2.0-or-later
#include "interposed_scheduler.h"

#include "ns3/boolean.h"
#include "ns3/object-factory.h"
#include "ns3/string.h"

namespace netboxit
{

using ControlSap = ns3::FfMacCschedSapProvider;
using RequestSap = ns3::FfMacSchedSapProvider;
using IndicationSap = ns3::FfMacSchedSapUser;

/// What the MAC configures: passed on, and looked at.
class InterposedScheduler::Control : public ControlSap
{
  public:
    Control(InterposedScheduler& owner, ControlSap& inner) : m_owner(owner), m_inner(inner) {}

    void CschedCellConfigReq(const CschedCellConfigReqParameters& request) override
    {
        m_inner.CschedCellConfigReq(request);
    }
    void CschedUeConfigReq(const CschedUeConfigReqParameters& request) override
    {
        m_inner.CschedUeConfigReq(request);
    }
    void CschedLcConfigReq(const CschedLcConfigReqParameters& request) override
    {
        auto channels = request;
        m_owner.Configures(channels);
        m_inner.CschedLcConfigReq(channels);
    }
    void CschedLcReleaseReq(const CschedLcReleaseReqParameters& request) override
    {
        for (const auto channel : request.m_logicalChannelIdentity)
        {
            m_owner.ReleasesChannel(request.m_rnti, channel);
        }
        m_inner.CschedLcReleaseReq(request);
    }
    void CschedUeReleaseReq(const CschedUeReleaseReqParameters& request) override
    {
        m_owner.ReleasesTerminal(request.m_rnti);
        m_inner.CschedUeReleaseReq(request);
    }

  private:
    InterposedScheduler& m_owner;
    ControlSap& m_inner;
};

/// What the MAC reports and asks for in each subframe.
class InterposedScheduler::Requests : public RequestSap
{
  public:
    Requests(InterposedScheduler& owner, RequestSap& inner) : m_owner(owner), m_inner(inner) {}

    RequestSap& Inner()
    {
        return m_inner;
    }

    void SchedDlRlcBufferReq(const SchedDlRlcBufferReqParameters& request) override
    {
        m_owner.Reports(request);
    }
    void SchedDlPagingBufferReq(const SchedDlPagingBufferReqParameters& request) override
    {
        m_inner.SchedDlPagingBufferReq(request);
    }
    void SchedDlMacBufferReq(const SchedDlMacBufferReqParameters& request) override
    {
        m_inner.SchedDlMacBufferReq(request);
    }
    void SchedDlTriggerReq(const SchedDlTriggerReqParameters& request) override
    {
        m_owner.BeforeDownlink();
        m_inner.SchedDlTriggerReq(request);
    }
    void SchedDlRachInfoReq(const SchedDlRachInfoReqParameters& request) override
    {
        m_inner.SchedDlRachInfoReq(request);
    }
    void SchedDlCqiInfoReq(const SchedDlCqiInfoReqParameters& request) override
    {
        if (m_owner.m_qualityReported)
        {
            for (const auto& report : request.m_cqiList)
            {
                if (report.m_cqiType == ns3::CqiListElement_s::P10 && !report.m_wbCqi.empty())
                {
                    m_owner.m_qualityReported(report.m_rnti, report.m_wbCqi.front());
                }
            }
        }
        m_inner.SchedDlCqiInfoReq(request);
    }
    void SchedUlTriggerReq(const SchedUlTriggerReqParameters& request) override
    {
        m_owner.BeforeUplink();
        m_inner.SchedUlTriggerReq(request);
    }
    void SchedUlNoiseInterferenceReq(const SchedUlNoiseInterferenceReqParameters& request) override
    {
        m_inner.SchedUlNoiseInterferenceReq(request);
    }
    void SchedUlSrInfoReq(const SchedUlSrInfoReqParameters& request) override
    {
        m_inner.SchedUlSrInfoReq(request);
    }
    void SchedUlMacCtrlInfoReq(const SchedUlMacCtrlInfoReqParameters& request) override
    {
        m_owner.ReportsUplink(request);
    }
    void SchedUlCqiInfoReq(const SchedUlCqiInfoReqParameters& request) override
    {
        m_inner.SchedUlCqiInfoReq(request);
    }

  private:
    InterposedScheduler& m_owner;
    RequestSap& m_inner;
};

/// What the scheduler has decided: looked at on its way to the MAC.
class InterposedScheduler::Indications : public IndicationSap
{
  public:
    Indications(InterposedScheduler& owner, IndicationSap& mac) : m_owner(owner), m_mac(mac) {}

    void SchedDlConfigInd(const SchedDlConfigIndParameters& indication) override
    {
        auto granted = indication;
        m_owner.Granted(granted);
        m_mac.SchedDlConfigInd(granted);
    }
    void SchedUlConfigInd(const SchedUlConfigIndParameters& indication) override
    {
        auto granted = indication;
        m_owner.Granted(granted);
        m_mac.SchedUlConfigInd(granted);
    }

  private:
    InterposedScheduler& m_owner;
    IndicationSap& m_mac;
};

ns3::TypeId InterposedScheduler::GetTypeId()
{
    static const auto id =
        ns3::TypeId("netboxit::InterposedScheduler")
            .SetParent<ns3::FfMacScheduler>()
            .AddAttribute("Inner",
                          "Type of the scheduler that does the work",
                          ns3::StringValue("ns3::PfFfMacScheduler"),
                          ns3::MakeStringAccessor(&InterposedScheduler::m_innerType),
                          ns3::MakeStringChecker())
            .AddAttribute("HarqEnabled",
                          "Passed on",
                          ns3::BooleanValue(true),
                          ns3::MakeBooleanAccessor(&InterposedScheduler::m_harq),
                          ns3::MakeBooleanChecker());
    return id;
}

InterposedScheduler::InterposedScheduler() = default;
InterposedScheduler::~InterposedScheduler() = default;

void InterposedScheduler::NotifyConstructionCompleted()
{
    ns3::FfMacScheduler::NotifyConstructionCompleted();
    ns3::ObjectFactory factory(m_innerType);
    factory.Set("HarqEnabled", ns3::BooleanValue(m_harq));
    m_inner = factory.Create<ns3::FfMacScheduler>();
    m_control = std::make_unique<Control>(*this, *m_inner->GetFfMacCschedSapProvider());
    m_requests = std::make_unique<Requests>(*this, *m_inner->GetFfMacSchedSapProvider());
}

void InterposedScheduler::DoDispose()
{
    m_inner->Dispose();
    m_inner = nullptr;
    ns3::FfMacScheduler::DoDispose();
}

void InterposedScheduler::SetFfMacCschedSapUser(ns3::FfMacCschedSapUser* user)
{
    m_inner->SetFfMacCschedSapUser(user);
}

void InterposedScheduler::SetFfMacSchedSapUser(ns3::FfMacSchedSapUser* user)
{
    m_indications = std::make_unique<Indications>(*this, *user);
    m_inner->SetFfMacSchedSapUser(m_indications.get());
}

ns3::FfMacCschedSapProvider* InterposedScheduler::GetFfMacCschedSapProvider()
{
    return m_control.get();
}

ns3::FfMacSchedSapProvider* InterposedScheduler::GetFfMacSchedSapProvider()
{
    return m_requests.get();
}

void InterposedScheduler::SetLteFfrSapProvider(ns3::LteFfrSapProvider* provider)
{
    m_inner->SetLteFfrSapProvider(provider);
}

ns3::LteFfrSapUser* InterposedScheduler::GetLteFfrSapUser()
{
    return m_inner->GetLteFfrSapUser();
}

ns3::FfMacSchedSapProvider& InterposedScheduler::Inner() const
{
    return m_requests->Inner();
}

} // namespace netboxit
