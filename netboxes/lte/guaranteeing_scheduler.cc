// SPDX-License-Identifier: GPL-2.0-or-later
#include "guaranteeing_scheduler.h"

#include "ns3/boolean.h"
#include "ns3/lte-common.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace netboxit
{

namespace
{

/// Others are held back for a bearer after this share of its packet delay budget, most of which is the uplink's request and grant.
constexpr double PATIENCE = 0.1;
/// The smallest piece that ns-3's acknowledged RLC takes, bytes, with a margin: on 6 it can abort.
constexpr std::uint32_t SMALLEST_PIECE = 10;
/// What ns-3 puts guaranteed bearers into, the others into the next one.
constexpr std::size_t GUARANTEED_GROUP = 1;

/// bit/s; parameters.py has no higher one for a bearer.
constexpr std::uint64_t HIGHEST_RATE = 100'000'000;

std::int64_t Now()
{
    return ns3::Simulator::Now().GetNanoSeconds();
}

} // namespace

ns3::TypeId GuaranteeingScheduler::GetTypeId()
{
    static const auto id =
        ns3::TypeId("netboxit::GuaranteeingScheduler")
            .SetParent<InterposedScheduler>()
            .AddConstructor<GuaranteeingScheduler>()
            .AddAttribute("Acknowledged",
                          "Whether any RLC entity is in acknowledged mode",
                          ns3::BooleanValue(false),
                          ns3::MakeBooleanAccessor(&GuaranteeingScheduler::m_acknowledged),
                          ns3::MakeBooleanChecker())
            .AddAttribute("Upholds",
                          "Whether guaranteed rates are upheld, or left to the scheduler",
                          ns3::BooleanValue(true),
                          ns3::MakeBooleanAccessor(&GuaranteeingScheduler::m_upholds),
                          ns3::MakeBooleanChecker());
    return id;
}

void GuaranteeingScheduler::Configures(ChannelConfiguration& channels)
{
    using Bearer = ns3::LogicalChannelConfigListElement_s;
    auto& terminal = m_terminals[channels.m_rnti];
    for (auto& bearer : channels.m_logicalChannelConfigList)
    {
        ++terminal.channels;
        if (bearer.m_eRabMaximulBitrateDl == 0)
        {
            // A bearer without a maximum: ns-3's token banks (fdtbfq, tdtbfq) would give it nothing.
            bearer.m_eRabMaximulBitrateDl = HIGHEST_RATE;
        }
        if (bearer.m_qosBearerType != Bearer::QBT_GBR || !m_upholds)
        {
            continue;
        }
        const auto traits = TraitsOf(bearer.m_qci);
        const Precedence precedence{m_arp ? m_arp(channels.m_rnti, bearer.m_logicalChannelIdentity) : 15,
                                    traits.priority};
        const double patience = traits.delayBudget * PATIENCE;
        m_channels[{channels.m_rnti, bearer.m_logicalChannelIdentity}].guarantee =
            Guarantee(static_cast<double>(bearer.m_eRabGuaranteedBitrateDl), patience, precedence);
        // The uplink's reports tell a UE's guaranteed bearers together, so the most urgent one speaks for all.
        const auto& others = terminal.guarantee;
        terminal.guarantee =
            Guarantee(others.Rate() + static_cast<double>(bearer.m_eRabGuaranteedBitrateUl),
                      patience,
                      others.Rate() > 0.0 ? std::min(others.ThePrecedence(), precedence) : precedence);
        m_hasGuarantees = true;
    }
}

void GuaranteeingScheduler::ReleasesChannel(std::uint16_t rnti, std::uint8_t channel)
{
    m_channels.erase({rnti, channel});
}

void GuaranteeingScheduler::ReleasesTerminal(std::uint16_t rnti)
{
    m_terminals.erase(rnti);
    std::erase_if(m_channels, [rnti](const auto& channel) { return channel.first.first == rnti; });
}

void GuaranteeingScheduler::Reports(const BufferReport& report)
{
    if (!m_hasGuarantees)
    {
        Inner().SchedDlRlcBufferReq(report);
        return;
    }
    auto& channel = m_channels[{report.m_rnti, report.m_logicalChannelIdentity}];
    channel.report = report;
    channel.guarantee.Waits(std::uint64_t{report.m_rlcTransmissionQueueSize} + report.m_rlcRetransmissionQueueSize, Now());
    if (!channel.isHidden)
    {
        Inner().SchedDlRlcBufferReq(report);
    }
}

void GuaranteeingScheduler::BeforeDownlink()
{
    if (!m_hasGuarantees)
    {
        return;
    }
    std::optional<Precedence> first;
    const auto now = Now();
    for (auto& [key, channel] : m_channels)
    {
        if (channel.guarantee.IsUrgent(now))
        {
            first = std::min(first.value_or(channel.guarantee.ThePrecedence()), channel.guarantee.ThePrecedence());
        }
    }
    m_exclusiveDownlink = first.has_value();
    for (auto& [key, channel] : m_channels)
    {
        const bool hide = first && !(channel.guarantee.IsUrgent(now) && channel.guarantee.ThePrecedence() == *first);
        if (hide == channel.isHidden)
        {
            continue;
        }
        channel.isHidden = hide;
        auto shown = channel.report;
        shown.m_rnti = key.first;
        shown.m_logicalChannelIdentity = key.second;
        if (hide)
        {
            shown.m_rlcTransmissionQueueSize = 0;
            shown.m_rlcRetransmissionQueueSize = 0;
            shown.m_rlcStatusPduSize = 0;
        }
        Inner().SchedDlRlcBufferReq(shown);
    }
}

void GuaranteeingScheduler::Granted(DownlinkGrants& downlink)
{
    const auto now = Now();
    for (auto& allocation : downlink.m_buildDataList)
    {
        for (auto& layers : allocation.m_rlcPduList)
        {
            if (m_acknowledged)
            {
                std::erase_if(layers, [](const auto& piece) { return piece.m_size < SMALLEST_PIECE; });
            }
            for (const auto& piece : layers)
            {
                const auto found = m_channels.find({allocation.m_rnti, piece.m_logicalChannelIdentity});
                if (found == m_channels.end())
                {
                    continue;
                }
                auto& report = found->second.report;
                report.m_rlcTransmissionQueueSize -=
                    std::min<std::uint32_t>(piece.m_size, report.m_rlcTransmissionQueueSize);
                found->second.guarantee.Served(piece.m_size, now, m_exclusiveDownlink);
            }
        }
    }
}

void GuaranteeingScheduler::ReportsUplink(const ControlReport& report)
{
    if (!m_hasGuarantees)
    {
        Inner().SchedUlMacCtrlInfoReq(report);
        return;
    }
    auto others = report;
    others.m_macCeList.clear();
    for (const auto& element : report.m_macCeList)
    {
        const auto found = m_terminals.find(element.m_rnti);
        if (element.m_macCeType != ns3::MacCeListElement_s::BSR || found == m_terminals.end())
        {
            others.m_macCeList.push_back(element);
            continue;
        }
        auto& terminal = found->second;
        for (std::size_t group = 0; group < terminal.waiting.size(); ++group)
        {
            terminal.waiting[group] =
                ns3::BufferSizeLevelBsr::BsrId2BufferSize(element.m_macCeValue.m_bufferStatus.at(group));
        }
        terminal.guarantee.Waits(terminal.waiting[GUARANTEED_GROUP], Now());
        Show(element.m_rnti, terminal);
    }
    if (!others.m_macCeList.empty())
    {
        Inner().SchedUlMacCtrlInfoReq(others);
    }
}

void GuaranteeingScheduler::BeforeUplink()
{
    if (!m_hasGuarantees)
    {
        return;
    }
    std::optional<Precedence> first;
    const auto now = Now();
    for (auto& [rnti, terminal] : m_terminals)
    {
        if (terminal.guarantee.IsUrgent(now))
        {
            first = std::min(first.value_or(terminal.guarantee.ThePrecedence()), terminal.guarantee.ThePrecedence());
        }
    }
    for (auto& [rnti, terminal] : m_terminals)
    {
        const bool urgent = terminal.guarantee.IsUrgent(now) && terminal.guarantee.ThePrecedence() == *first;
        const auto shown = !first   ? Terminal::Shown::All
                           : urgent ? Terminal::Shown::Guaranteed
                                    : Terminal::Shown::Nothing;
        if (shown != terminal.shown)
        {
            terminal.shown = shown;
            Show(rnti, terminal);
        }
    }
}

void GuaranteeingScheduler::Show(std::uint16_t rnti, const Terminal& terminal)
{
    ns3::MacCeListElement_s status;
    status.m_rnti = rnti;
    status.m_macCeType = ns3::MacCeListElement_s::BSR;
    for (std::size_t group = 0; group < terminal.waiting.size(); ++group)
    {
        const bool visible = terminal.shown == Terminal::Shown::All ||
                             (terminal.shown == Terminal::Shown::Guaranteed && group == GUARANTEED_GROUP);
        status.m_macCeValue.m_bufferStatus.push_back(ns3::BufferSizeLevelBsr::BufferSize2BsrId(
            visible ? static_cast<std::uint32_t>(terminal.waiting[group]) : 0));
    }
    ControlReport report{};
    report.m_macCeList.push_back(status);
    Inner().SchedUlMacCtrlInfoReq(report);
}

void GuaranteeingScheduler::Granted(UplinkGrants& uplink)
{
    if (m_acknowledged)
    {
        // A UE shares a grant out equally among its channels, signalling radio bearers included.
        std::erase_if(uplink.m_dciList, [this](const auto& grant) {
            const auto found = m_terminals.find(grant.m_rnti);
            return found != m_terminals.end() && grant.m_tbSize < SMALLEST_PIECE * (found->second.channels + 1);
        });
    }
    if (!m_hasGuarantees)
    {
        return;
    }
    const auto now = Now();
    for (const auto& grant : uplink.m_dciList)
    {
        const auto found = m_terminals.find(grant.m_rnti);
        if (found == m_terminals.end())
        {
            continue;
        }
        auto& terminal = found->second;
        auto& guaranteed = terminal.waiting[GUARANTEED_GROUP];
        auto& other = terminal.waiting[GUARANTEED_GROUP + 1];
        const std::uint64_t granted = grant.m_tbSize;
        const auto forGuaranteed =
            terminal.shown == Terminal::Shown::Guaranteed || other == 0 ? granted : granted / 2;
        if (guaranteed > 0)
        {
            terminal.guarantee.Served(std::min(forGuaranteed, guaranteed), now, terminal.shown == Terminal::Shown::Guaranteed);
        }
        const auto taken = std::min(forGuaranteed, guaranteed);
        guaranteed -= taken;
        other -= std::min(granted - taken, other);
    }
}

} // namespace netboxit
