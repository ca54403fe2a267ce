// SPDX-License-Identifier: GPL-2.0-or-later
// How a station gets a channel: random access, set-up, and waiting.
#include "cell.h"

#include "ns3/simulator.h"

namespace netboxit
{

namespace
{

/// A random access burst is protected like the best protected channel.
constexpr BlockFormat ACCESS_BURST = BlockFormat::Of("high");
const ns3::Time HALF_SLOT = ns3::NanoSeconds(tdma::SlotStart(0, 1) / 2);

std::int64_t Now()
{
    return ns3::Simulator::Now().GetNanoSeconds();
}

} // namespace

void Cell::Serve(StationId station)
{
    std::set<std::optional<StationId>> wanted;
    if (IsBase(station))
    {
        wanted = m_stations[station].Parties();
    }
    else if (const auto* first = m_stations[station].MostUrgent())
    {
        wanted.insert(first->to); // a terminal has one call at a time
    }
    if (auto* call = CallOf(station))
    {
        Proceed(*call);
        return;
    }
    for (const auto& to : wanted)
    {
        if (auto* call = CallBetween(station, to))
        {
            Proceed(*call);
        }
        else if (!RequestBy(station, to) && (IsBase(station) || std::ranges::find(m_requests, station, &Request::from) == m_requests.end()))
        {
            Ask(station, to);
        }
    }
}

Cell::Request* Cell::RequestBy(StationId station, std::optional<StationId> to)
{
    const auto found = std::ranges::find_if(
        m_requests, [&](const Request& request) { return request.from == station && request.to == to; });
    return found == m_requests.end() ? nullptr : &*found;
}

void Cell::Erase(std::uint64_t request)
{
    std::erase_if(m_requests, [&](const Request& each) { return each.id == request; });
}

void Cell::EraseIdle(Request::Stage stage, std::optional<std::int64_t> opportunity)
{
    std::erase_if(m_requests,
                  [&](const Request& request)
                  {
                      const bool idle = request.stage == stage && (!opportunity || request.opportunity == *opportunity) &&
                                        !m_stations[request.from].MostUrgentTo(request.to);
                      if (idle)
                      {
                          ns3::Simulator::ScheduleNow(&Cell::Serve, this, request.from);
                      }
                      return idle;
                  });
}

void Cell::Ask(StationId station, std::optional<StationId> to)
{
    m_requests.push_back({.id = ++m_lastId, .from = station, .to = to, .since = Now()});
    auto& request = m_requests.back();
    if (IsBase(station))
    {
        request.stage = Request::Stage::SetUp;
        ns3::Simulator::Schedule(m_setupTime, &Cell::SetUpEnds, this, request.id);
    }
    else
    {
        Contend(request, Now());
    }
}

void Cell::Contend(Request& request, std::int64_t earliest)
{
    request.stage = Request::Stage::Access;
    request.opportunity = tdma::NextOpportunity(earliest);
    if (m_opportunities.insert(request.opportunity).second)
    {
        ns3::Simulator::Schedule(
            ns3::NanoSeconds(tdma::OpportunityStart(request.opportunity) - Now()) + HALF_SLOT, &Cell::Resolve, this, request.opportunity);
    }
}

void Cell::Resolve(std::int64_t opportunity)
{
    m_opportunities.erase(opportunity);
    EraseIdle(Request::Stage::Access, opportunity);
    std::vector<std::uint64_t> contenders;
    for (auto& request : m_requests)
    {
        if (request.stage == Request::Stage::Access && request.opportunity == opportunity)
        {
            // In direct mode a terminal hears that the channel is taken, and whether anybody speaks.
            if (!m_radio.Base())
            {
                EndIdleCallsBefore(request);
                if (!FreeSlots())
                {
                    request.stage = Request::Stage::Waiting;
                    continue;
                }
            }
            contenders.push_back(request.id);
        }
    }
    for (const auto id : contenders)
    {
        const auto found = std::ranges::find(m_requests, id, &Request::id);
        auto& counters = m_stations[found->from].counters;
        ++counters.accesses;
        counters.accessCollisions += contenders.size() > 1;
        const auto listener = m_radio.Base() ? m_radio.Base() : found->to;
        if (contenders.size() == 1 &&
            (!listener || m_radio.DrawBlock(found->from, *listener, m_radio.DrawFade(), ACCESS_BURST)))
        {
            found->stage = Request::Stage::SetUp;
            ns3::Simulator::Schedule(m_setupTime, &Cell::SetUpEnds, this, id);
        }
        else
        {
            AccessFails(*found, opportunity);
        }
    }
}

void Cell::AccessFails(Request& request, std::int64_t opportunity)
{
    if (++request.attempts < m_accessAttempts)
    {
        const auto backoff = static_cast<std::int64_t>(m_backoff->GetInteger(0, m_accessFrame - 1));
        Contend(request, tdma::OpportunityStart(opportunity + 2 * m_accessTimeout + backoff));
        return;
    }
    const auto station = request.from;
    if (const auto packet = m_stations[station].TakeTo(request.to, Now()))
    {
        Lose(*packet, Loss::RetryLimit);
    }
    Erase(request.id);
    ns3::Simulator::ScheduleNow(&Cell::Serve, this, station);
}

void Cell::SetUpEnds(std::uint64_t id)
{
    const auto found = std::ranges::find(m_requests, id, &Request::id);
    if (found != m_requests.end())
    {
        found->stage = Request::Stage::Waiting;
        Allocate();
    }
}

ClassId Cell::UrgencyOf(const Request& request) const
{
    const auto* packet = m_stations[request.from].MostUrgentTo(request.to);
    return packet ? packet->trafficClass : UINT16_MAX;
}

bool Cell::CanBegin(const Request& request) const
{
    return !IsInCall(request.from) && !(request.to && IsInCall(*request.to));
}

void Cell::Allocate()
{
    EraseIdle(Request::Stage::Waiting, std::nullopt);
    std::vector<std::pair<ClassId, std::uint64_t>> order;
    for (const auto& request : m_requests)
    {
        if (request.stage == Request::Stage::Waiting)
        {
            order.emplace_back(UrgencyOf(request), request.id);
        }
    }
    std::ranges::sort(order);
    for (const auto& [urgency, id] : order)
    {
        const auto found = std::ranges::find(m_requests, id, &Request::id);
        if (found == m_requests.end())
        {
            continue; // its parties are in a call that has just begun
        }
        const auto request = *found;
        if (request.to && !m_radio.Connected(request.from, *request.to))
        {
            Erase(id);
            m_stations[request.from].LoseTo(request.to, Loss::Outage, Now());
            ns3::Simulator::ScheduleNow(&Cell::Serve, this, request.from);
            continue;
        }
        EndIdleCallsBefore(request);
        if (!CanBegin(request))
        {
            continue;
        }
        auto place = FreeSlots();
        while (!place && urgency == m_emergency && Preempt())
        {
            place = FreeSlots();
        }
        if (place)
        {
            StartCall(request, place->first, place->second);
        }
    }
}

void Cell::EndIdleCallsBefore(const Request& request)
{
    std::vector<Call*> ended;
    for (const auto party : {std::optional(request.from), request.to})
    {
        auto* call = party ? CallOf(*party) : nullptr;
        if (call != nullptr && !call->IsIdle())
        {
            return;
        }
        if (call != nullptr && std::ranges::find(ended, call) == ended.end())
        {
            ended.push_back(call);
        }
    }
    if (!FreeSlots(true))
    {
        return;
    }
    const auto end = [this](Call& call)
    {
        Release(call);
        ns3::Simulator::ScheduleNow(&Cell::AfterRelease, this);
    };
    std::ranges::for_each(ended, [&](Call* call) { end(*call); });
    while (!FreeSlots())
    {
        // The one that has been idle for the longest time.
        const auto rank = [](const auto& call) { return std::pair(!call->IsIdle(), call->event.GetTs()); };
        end(**std::ranges::min_element(m_calls, {}, rank));
    }
}

std::optional<std::pair<std::size_t, SlotRange>> Cell::FreeSlots(bool idleEnded) const
{
    for (std::size_t carrier = 0; carrier < m_carriers; ++carrier)
    {
        const std::int64_t control = m_radio.Base() && carrier == 0 ? 1 : 0;
        for (auto first = control; first + m_slots <= tdma::SLOTS; ++first)
        {
            const bool taken = std::ranges::any_of(
                m_calls,
                [&](const auto& call)
                {
                    const bool overlaps = !m_radio.Base() || (call->slots.first < first + m_slots &&
                                                              first < call->slots.first + call->slots.count);
                    return call->carrier == carrier && overlaps && !(idleEnded && call->IsIdle());
                });
            if (!taken)
            {
                return std::pair(carrier, SlotRange{first, m_slots});
            }
        }
    }
    return std::nullopt;
}

bool Cell::Preempt()
{
    Call* least = nullptr;
    for (const auto& call : m_calls)
    {
        if (call->trafficClass != m_emergency && (!least || call->trafficClass > least->trafficClass))
        {
            least = call.get();
        }
    }
    if (!least)
    {
        return false;
    }
    m_announcements.Announce("call_preempted", least->from);
    ++m_stations[least->from].counters.callsPreempted;
    Release(*least);
    ns3::Simulator::ScheduleNow(&Cell::AfterRelease, this);
    return true;
}

void Cell::StartCall(const Request& request, std::size_t carrier, SlotRange slots)
{
    auto call = std::make_unique<Call>();
    call->id = ++m_lastId;
    call->from = request.from;
    call->to = request.to;
    call->trafficClass = UrgencyOf(request);
    call->carrier = carrier;
    call->slots = slots;
    call->began = Now();
    call->members.assign(m_stations.size(), false);
    for (StationId id = 0; id < m_stations.size(); ++id)
    {
        const bool party = id == request.from || id == request.to;
        call->members[id] = party || (!request.to && !IsInCall(id) && (IsBase(id) || m_radio.Connected(request.from, id)));
    }
    auto& counters = m_stations[request.from].counters;
    ++counters.calls;
    counters.setupTime += static_cast<double>(Now() - request.since) / 1e9;
    // Nobody who is in a call asks for another one; the base asks no more for this one.
    std::erase_if(m_requests,
                  [&](const Request& each)
                  {
                      return IsBase(each.from) ? each.to && request.to && call->members[*each.to] && call->members[each.from]
                                                     : static_cast<bool>(call->members[each.from]);
                  });
    if (IsBase(request.from))
    {
        Erase(request.id);
    }
    m_calls.push_back(std::move(call));
    Proceed(*m_calls.back());
}

} // namespace netboxit
