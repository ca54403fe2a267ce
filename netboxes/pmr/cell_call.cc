// SPDX-License-Identifier: GPL-2.0-or-later
// Who speaks in a call, and what becomes of the blocks.
#include "cell.h"

#include "ns3/simulator.h"

namespace netboxit
{

namespace
{

std::int64_t Now()
{
    return ns3::Simulator::Now().GetNanoSeconds();
}

} // namespace

void Cell::Proceed(Call& call)
{
    if (call.sending)
    {
        return;
    }
    call.event.Cancel();
    std::optional<StationId> next;
    bool elsewhere = false;
    bool urgent = false;
    for (StationId id = 0; id < m_stations.size(); ++id)
    {
        if (!call.members[id])
        {
            continue;
        }
        const auto to = Addressee(call, id);
        const auto* packet = m_stations[id].MostUrgentTo(to);
        if (packet && id != call.holder &&
            (!next || packet->trafficClass < m_stations[*next].MostUrgentTo(Addressee(call, *next))->trafficClass))
        {
            next = id;
        }
        const auto* first = IsBase(id) ? nullptr : m_stations[id].MostUrgent();
        if (first && first->to != to)
        {
            elsewhere = true;
            urgent = urgent || first->trafficClass == m_emergency;
        }
    }
    const bool holds = call.holder && m_stations[*call.holder].MostUrgentTo(Addressee(call, *call.holder));
    const bool waiting = std::ranges::find(m_requests, Request::Stage::Waiting, &Request::stage) != m_requests.end();
    const bool wanted = elsewhere || waiting;
    if ((urgent && call.trafficClass != m_emergency) || (wanted && Now() - call.began >= m_longestCall) ||
        (elsewhere && !holds && !next))
    {
        EndCall(call.id);
    }
    else if (holds && !(next && Now() - call.holderSince >= m_floorTime))
    {
        Speak(call, *call.holder);
    }
    else if (next)
    {
        Speak(call, *next);
    }
    else if (waiting && !m_radio.Base())
    {
        EndCall(call.id); // all hear that nobody speaks, and contend
    }
    else
    {
        call.event = ns3::Simulator::Schedule(m_hangTime, &Cell::EndCall, this, call.id);
        if (waiting)
        {
            ns3::Simulator::ScheduleNow(&Cell::Allocate, this);
        }
    }
}

void Cell::Speak(Call& call, StationId station)
{
    const auto packet = m_stations[station].TakeTo(Addressee(call, station), Now());
    if (!packet)
    {
        Proceed(call); // all that waited were lost
        return;
    }
    auto earliest = Now();
    if (call.holder != station)
    {
        earliest += call.holder ? m_turnaround : 0;
        call.holder = station;
        call.holderSince = Now();
    }
    call.sending = Sending{.speaker = station, .packet = *packet, .missing = BlocksOf(packet->length, m_format), .reached = {}};
    SendRound(call, earliest);
}

std::vector<std::uint32_t> Cell::Spoiled(const Call& call,
                                         StationId speaker,
                                         const std::vector<StationId>& receivers,
                                         std::int64_t earliest,
                                         std::uint32_t blocks,
                                         std::int64_t& end)
{
    const auto base = m_radio.Base();
    const bool up = base && speaker != *base;
    const auto sender = base.value_or(speaker);
    std::vector<std::uint32_t> spoiled(receivers.size(), 0);
    std::vector<double> fades(receivers.size());
    bool relayed = false;
    end = call.slots.Fill(
        earliest,
        blocks,
        [&](std::int64_t, std::uint32_t inFrame)
        {
            const double fadeUp = up ? m_radio.DrawFade() : 1.0;
            std::ranges::generate(fades, [this] { return m_radio.DrawFade(); });
            for (std::uint32_t block = 0; block < inFrame; ++block)
            {
                const bool atBase = !up || m_radio.DrawBlock(speaker, *base, fadeUp, m_format);
                for (std::size_t each = 0; each < receivers.size(); ++each)
                {
                    const auto receiver = receivers[each];
                    const bool there = receiver == base || m_radio.DrawBlock(sender, receiver, fades[each], m_format);
                    spoiled[each] += !(atBase && there);
                }
            }
        });
    for (const auto receiver : receivers)
    {
        relayed = relayed || (up && receiver != base);
    }
    // The base station decodes a block before it sends it on, a frame later.
    end += relayed ? tdma::FRAME : 0;
    return spoiled;
}

void Cell::SendRound(Call& call, std::int64_t earliest)
{
    auto& sending = *call.sending;
    auto& counters = m_stations[sending.speaker].counters;
    std::vector<StationId> receivers;
    if (sending.packet.to)
    {
        receivers.push_back(*sending.packet.to);
    }
    else
    {
        for (StationId id = 0; id < m_stations.size(); ++id)
        {
            if (call.members[id] && id != sending.speaker)
            {
                receivers.push_back(id);
            }
        }
    }
    counters.blocksSent += sending.missing;
    std::int64_t end = 0;
    const auto spoiled = Spoiled(call, sending.speaker, receivers, earliest, sending.missing, end);
    sending.reached.clear();
    for (std::size_t each = 0; each < receivers.size(); ++each)
    {
        counters.blocksLost += spoiled[each];
        if (spoiled[each] == 0)
        {
            sending.reached.push_back(receivers[each]);
        }
    }
    sending.missing = spoiled.empty() ? 0 : spoiled.front();
    call.event = ns3::Simulator::Schedule(ns3::NanoSeconds(end - Now()), &Cell::RoundEnds, this, call.id);
}

void Cell::RoundEnds(std::uint64_t id)
{
    auto& call = *Find(id);
    auto& sending = *call.sending;
    const auto& packet = sending.packet;
    if (!packet.to)
    {
        GroupRoundEnds(call);
        return;
    }
    if (!sending.arrived && sending.missing == 0)
    {
        sending.arrived = true;
        m_fates.Deliver(packet.slot, *packet.to);
    }
    if (!m_radio.Connected(packet.from, *packet.to) || !m_acknowledged)
    {
        if (!sending.arrived)
        {
            Lose(packet, m_radio.Connected(packet.from, *packet.to) ? Loss::OnAir : Loss::Outage);
        }
        Finish(call);
        return;
    }
    std::int64_t end = 0;
    const auto spoiled = Spoiled(call, *packet.to, {packet.from}, Now(), 1, end);
    ++m_stations[*packet.to].counters.blocksSent;
    call.event = ns3::Simulator::Schedule(
        ns3::NanoSeconds(end - Now()), &Cell::AcknowledgementEnds, this, id, spoiled.front() == 0);
}

void Cell::AcknowledgementEnds(std::uint64_t id, bool heard)
{
    auto& call = *Find(id);
    auto& sending = *call.sending;
    if (sending.arrived && heard)
    {
        Finish(call);
    }
    else if (sending.rounds == m_retransmissions || Now() - sending.packet.queued > Terminal::LONGEST_WAIT)
    {
        if (!sending.arrived)
        {
            Lose(sending.packet, Loss::RetryLimit);
        }
        Finish(call);
    }
    else
    {
        ++sending.rounds;
        // Without an answer the last block is repeated, to ask for it.
        sending.missing = sending.arrived ? 1 : sending.missing;
        m_stations[sending.speaker].counters.blocksRepeated += sending.missing;
        SendRound(call, Now());
    }
}

void Cell::GroupRoundEnds(Call& call)
{
    const auto& sending = *call.sending;
    auto& lost = m_stations[sending.speaker].counters.lost;
    for (StationId id = 0; id < m_stations.size(); ++id)
    {
        if (id == sending.speaker)
        {
            continue;
        }
        const bool connected = call.members[id] && m_radio.Connected(sending.speaker, id);
        const bool reached = std::ranges::find(sending.reached, id) != sending.reached.end();
        if (connected && reached)
        {
            m_fates.Deliver(sending.packet.slot, id);
            continue;
        }
        const auto reason = connected ? Loss::OnAir : Loss::Outage;
        ++lost[reason];
        m_fates.Lose(sending.packet.slot, id, reason);
    }
    Finish(call);
}

void Cell::Finish(Call& call)
{
    ++m_stations[call.sending->speaker].counters.packetsSent;
    call.sending.reset();
    Proceed(call);
}

void Cell::EndCall(std::uint64_t id)
{
    if (auto* call = Find(id))
    {
        Release(*call);
        ns3::Simulator::ScheduleNow(&Cell::AfterRelease, this);
    }
}

void Cell::Release(Call& call)
{
    call.event.Cancel();
    if (call.sending && !call.sending->arrived)
    {
        const auto& packet = call.sending->packet;
        m_stations[packet.from].PutBack(packet);
        ExpireInTime(packet);
    }
    std::erase_if(m_calls, [&](const auto& each) { return each.get() == &call; });
}

void Cell::AfterRelease()
{
    if (!m_radio.Base())
    {
        // Who waited for the channel to be free contends for it, not all at once.
        for (auto& request : m_requests)
        {
            if (request.stage == Request::Stage::Waiting)
            {
                const auto backoff = static_cast<std::int64_t>(m_backoff->GetInteger(0, m_accessFrame - 1));
                Contend(request, tdma::OpportunityStart(tdma::NextOpportunity(Now()) + backoff));
            }
        }
    }
    Allocate();
    for (StationId id = 0; id < m_stations.size(); ++id)
    {
        Serve(id);
    }
}

} // namespace netboxit
