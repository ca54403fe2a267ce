// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon.h"

#include "address_text.h"
#include "big_endian.h"
#include "kernel_clock.h"
#include "route.h"

#include <net/if.h>
#include <sys/random.h>
#include <sys/signalfd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <stdexcept>

namespace netboxit::middleware
{

namespace
{

/// A member that leaves waits so long for the allocator's answer: longer than a satellite's round trip. Without the message its
/// lease ends by itself.
constexpr Time LEAVING = SECOND;
constexpr std::size_t DOMAIN_OFFSET = 16; ///< of the header, README.md

Time Now()
{
    return ReadClock(CLOCK_MONOTONIC);
}

std::uint64_t RandomWord()
{
    std::uint64_t word = 0;
    // Up to 256 bytes come whole.
    Checked(static_cast<int>(::getrandom(&word, sizeof word, 0)), "getting random numbers");
    return word;
}

Allocator::Secrets NewSecrets()
{
    return {.instance = std::max<std::uint64_t>(RandomWord(), 1), .tokens = {RandomWord(), RandomWord()}};
}

Descriptor OpenSignals()
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    Checked(::sigprocmask(SIG_BLOCK, &signals, nullptr), "blocking signals");
    return {::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC), "waiting for signals"};
}

/// The part that a datagram is for. What names no domain of this host goes to the first one, which counts it.
template <typename Host>
Host& PartFor(std::vector<Host>& hosts, std::span<const std::uint8_t> bytes)
{
    if (bytes.size() >= DOMAIN_OFFSET + 4)
    {
        const auto domain = BigEndianReader(bytes.subspan(DOMAIN_OFFSET, 4)).Get(4);
        const auto found = std::ranges::find(hosts, domain, &Host::domain);
        if (found != hosts.end())
        {
            return *found;
        }
    }
    return hosts.front();
}

template <typename Host>
Host& PartNamed(std::vector<Host>& hosts, const std::string& name)
{
    const auto found = std::ranges::find(hosts, name, &Host::name);
    if (found == hosts.end())
    {
        throw std::invalid_argument("this host has no part of that role in a link " + name);
    }
    return *found;
}

Rate RateIn(const Json& value, const std::string& parameter)
{
    const auto rate = value.is_number() ? value.get<double>() : -1;
    if (rate < 0 || rate > static_cast<double>(MOST_RATE) || rate != std::floor(rate))
    {
        const auto shown = value.dump(-1, ' ', false, Json::error_handler_t::replace);
        throw std::invalid_argument(parameter + " is " + shown + ": give a whole number from 0 to 10^15, in bit/s");
    }
    return static_cast<Rate>(rate);
}

/// The kernel's index of an interface, or of that by which a host is reached; 0 where there is none.
unsigned IndexOf(const std::optional<std::string>& interface, const HostAddress& host)
{
    try
    {
        return ::if_nametoindex(interface ? interface->c_str() : InterfaceTo(host).c_str());
    }
    catch (const std::runtime_error&)
    {
        return 0; // no route leads there: the member hears no allocator, and says so
    }
}

} // namespace

Daemon::Daemon(const DaemonConfiguration& configuration) : m_signals(OpenSignals()), m_state(configuration.state)
{
    const auto now = Now();
    const bool isGateway = std::ranges::any_of(
        configuration.parts, [](const Part& part) { return std::holds_alternative<AllocatorPart>(part.role); });
    for (const auto& [name, role] : configuration.parts)
    {
        auto& port = std::holds_alternative<AllocatorPart>(role) ? m_allocatorPort : m_memberPort;
        if (!port)
        {
            port = std::make_unique<UdpPort>(std::holds_alternative<AllocatorPart>(role) ? ALLOCATOR_PORT : MEMBER_PORT);
        }
    }
    // Who has the ports is the only daemon here, and nobody else writes into its journal.
    OpenJournal(configuration.journal);
    if (m_memberPort)
    {
        // Who has the port is the only daemon with members here.
        Shaper::RemoveLeft();
    }
    for (const auto& [name, role] : configuration.parts)
    {
        if (const auto* allocator = std::get_if<AllocatorPart>(&role))
        {
            Open(*allocator, name, now);
        }
        else
        {
            Open(std::get<MemberPart>(role), name, isGateway, now);
        }
    }
    if (configuration.control)
    {
        m_control = std::make_unique<ControlSocket>(
            *configuration.control, [this](const std::string& method, const Json& params) { return Answer(method, params); });
    }
}

/// Links are managed also where their events cannot be written down.
void Daemon::OpenJournal(const std::optional<std::string>& path)
{
    try
    {
        if (path)
        {
            m_journal.emplace(*path);
        }
    }
    catch (const std::system_error& error)
    {
        std::fprintf(stderr, "c2ml: %s\n", error.what());
    }
}

void Daemon::Open(const AllocatorPart& part, const std::string& name, Time now)
{
    auto& host = m_allocators.emplace_back(AllocatorHost{.name = name, .domain = part.settings.domain, .part = part});
    if (part.follows)
    {
        host.teller.interface = part.follows->interface;
        ListenToNetboxes();
    }
    else
    {
        Divide(host, part.settings.capacity, now);
    }
}

void Daemon::Divide(AllocatorHost& host, Rate capacity, Time now)
{
    if (host.allocator)
    {
        host.allocator->SetCapacity(capacity, now);
    }
    else
    {
        host.part.settings.capacity = capacity;
        host.allocator.emplace(host.part.settings, NewSecrets(), now);
    }
    Settle(host);
}

void Daemon::ListenToNetboxes()
{
    if (!m_telemetry)
    {
        m_telemetry = std::make_unique<TelemetrySocket>();
    }
}

void Daemon::Open(const MemberPart& part, const std::string& name, bool sendsAnnouncements, Time now)
{
    m_members.push_back({.name = name,
                         .domain = part.settings.domain,
                         .enforcement = part.enforcement,
                         .member = Member(part.settings, RandomWord),
                         .shaper = nullptr,
                         .access = std::nullopt});
    auto& host = m_members.back();
    if (part.telemetry)
    {
        host.access = Teller{.interface = part.interface, .allocator = part.settings.allocator.host};
        ListenToNetboxes();
    }
    if (part.group)
    {
        host.group.emplace(*part.group, part.settings.allocator.host);
        StayIn(host, now);
    }
    if (part.enforcement == Enforcement::Shaper)
    {
        host.shaper = std::make_unique<Shaper>(Shaper::Settings{.allocator = part.settings.allocator,
                                                                .interface = part.interface,
                                                                .exempt = {part.beside, sendsAnnouncements}},
                                               m_shapedInterfaces);
    }
    host.member.SetAccess(part.access.value_or(MOST_RATE), now);
    host.member.Join(now);
    Settle(host, now);
}

void Daemon::Run()
{
    while (!IsAsked())
    {
        Serve(Now());
        Wait(NEVER);
    }
    Leave();
    m_state.Touch();
    WriteState(Now());
}

bool Daemon::IsAsked()
{
    signalfd_siginfo information;
    return ::read(m_signals.Get(), &information, sizeof information) > 0;
}

void Daemon::Leave()
{
    const auto end = Now() + LEAVING;
    for (auto& host : m_members)
    {
        host.member.Leave(Now());
        Settle(host, Now());
    }
    const auto isLeaving = [](const MemberHost& host) { return host.member.Due() != NEVER; };
    // Who asks again does not want to wait.
    while (std::ranges::any_of(m_members, isLeaving) && Now() < end && !IsAsked())
    {
        Serve(Now());
        Wait(end);
    }
}

void Daemon::Serve(Time now)
{
    if (m_allocatorPort)
    {
        m_allocatorPort->Receive([&](const UdpPort::Arrival& arrival) {
            auto& host = PartFor(m_allocators, arrival.bytes);
            if (host.allocator)
            {
                host.allocator->Receive(arrival.bytes, arrival.from, now, arrival.at);
                Settle(host);
            }
        });
    }
    if (m_memberPort)
    {
        m_memberPort->Receive([&](const UdpPort::Arrival& arrival) {
            auto& host = PartFor(m_members, arrival.bytes);
            host.member.Receive(arrival.bytes, arrival.from, now);
            Settle(host, now);
        });
    }
    if (m_telemetry)
    {
        m_telemetry->Receive([&](const TelemetrySocket::Arrival& arrival) { Take(arrival, now); });
    }
    for (auto& host : m_allocators)
    {
        if (host.allocator && host.allocator->Due() <= now)
        {
            host.allocator->Advance(now);
            Settle(host);
        }
    }
    for (auto& host : m_members)
    {
        if (host.member.Due() <= now)
        {
            host.member.Advance(now);
            Settle(host, now);
        }
        if (host.group && host.group->Due() <= now)
        {
            StayIn(host, now);
        }
        if (host.shaper && host.shaper->Due() <= now)
        {
            host.shaper->Advance(now);
            NoteEnforcement(host);
            m_state.Touch();
        }
    }
    if (m_state.Due() <= now)
    {
        WriteState(now);
    }
}

Time Daemon::Due() const
{
    auto due = m_state.Due();
    for (const auto& host : m_allocators)
    {
        due = std::min(due, host.allocator ? host.allocator->Due() : NEVER);
    }
    for (const auto& host : m_members)
    {
        due = std::min({due, host.member.Due(), host.shaper ? host.shaper->Due() : NEVER, host.group ? host.group->Due() : NEVER});
    }
    return due;
}

void Daemon::Wait(Time latest)
{
    std::vector<pollfd> polled{{m_signals.Get(), POLLIN, 0}};
    for (const auto* port : {m_allocatorPort.get(), m_memberPort.get()})
    {
        if (port != nullptr)
        {
            port->AddTo(polled);
        }
    }
    if (m_telemetry)
    {
        m_telemetry->AddTo(polled);
    }
    const auto served = polled.size();
    if (m_control)
    {
        m_control->AddTo(polled);
    }
    const auto wait = std::max<Time>(std::min(Due(), latest) - Now(), 0);
    const timespec timeout{.tv_sec = wait / SECOND, .tv_nsec = wait % SECOND};
    if (::ppoll(polled.data(), polled.size(), &timeout, nullptr) < 0 && errno != EINTR)
    {
        Checked(-1, "waiting for datagrams");
    }
    if (m_control)
    {
        m_control->Serve(std::span(polled).subspan(served));
    }
}

bool Daemon::Teller::IsAt(unsigned interfaceIndex, Time now)
{
    if (now - found >= FIND_AGAIN)
    {
        found = now;
        index = IndexOf(interface, allocator);
    }
    return interfaceIndex == index;
}

void Daemon::Take(const TelemetrySocket::Arrival& arrival, Time now)
{
    for (auto& host : m_allocators)
    {
        if (!host.part.follows || !host.teller.IsAt(arrival.interface, now))
        {
            continue;
        }
        const auto capacity = host.part.follows->CapacityOf(arrival.state.transmit, arrival.state.receive);
        if (capacity && host.teller.told != capacity)
        {
            host.teller.told = capacity;
            Divide(host, *capacity, now);
        }
    }
    for (auto& host : m_members)
    {
        const auto rate = static_cast<Rate>(std::min<std::uint64_t>(arrival.state.transmit, MOST_RATE));
        if (host.access && host.access->IsAt(arrival.interface, now) && host.access->told != rate)
        {
            host.access->told = rate;
            host.member.SetAccess(rate, now);
            Settle(host, now);
        }
    }
}

void Daemon::Settle(AllocatorHost& host)
{
    m_state.Touch();
    for (const auto& datagram : host.allocator->TakeDatagrams())
    {
        if (datagram.to)
        {
            Send(*m_allocatorPort, datagram, *datagram.to, host.sending);
            continue;
        }
        if (const auto& group = host.part.group)
        {
            const Address all{.host = group->group, .port = MEMBER_PORT};
            Send(*m_allocatorPort, {.to = all, .bytes = datagram.bytes, .from = group->from}, all, host.sending);
            continue;
        }
        // Each member has its copy, from the address that it asks.
        for (const auto& member : host.allocator->Members())
        {
            Send(*m_allocatorPort,
                 {.to = member, .bytes = datagram.bytes, .from = host.allocator->AskedBy(member)},
                 member,
                 host.sending);
        }
    }
    if (const auto& terms = host.allocator->Announced(); std::exchange(host.epoch, terms.epoch) != terms.epoch)
    {
        WriteDown(host.name, AnnouncedOf(terms));
    }
}

void Daemon::Settle(MemberHost& host, Time now)
{
    m_state.Touch();
    for (const auto& datagram : host.member.TakeDatagrams())
    {
        Send(*m_memberPort, datagram, *datagram.to, host.sending);
    }
    for (const auto& event : host.member.TakeEvents())
    {
        Note(host, event);
        if (host.shaper && event.kind == Member::Event::Kind::BudgetChanged)
        {
            host.shaper->Apply(event.budget, now);
            NoteEnforcement(host);
        }
    }
}

/// In the group of its announcements.
void Daemon::StayIn(MemberHost& host, Time now)
{
    const auto before = host.group->Error();
    host.group->Advance(*m_memberPort, now);
    if (const auto& error = host.group->Error(); error != before)
    {
        m_state.Touch();
        const auto words = error.empty() ? "announcements come by multicast" : "announcements do not come by multicast: " + error;
        std::printf("%s: %s\n", host.name.c_str(), words.c_str());
    }
}

void Daemon::Send(UdpPort& port, const Datagram& datagram, const Address& to, Sending& sending)
{
    auto failure = port.Send(datagram, to);
    if (!failure.empty())
    {
        ++sending.unsent;
        sending.lastFailure = "to " + TextOf(to.host) + ": " + failure;
    }
}

void Daemon::WriteDown(const std::string& link, const Announced& announced)
{
    if (m_journal)
    {
        m_journal->Add(link, announced);
    }
}

void Daemon::NoteEnforcement(MemberHost& host)
{
    if (const auto& error = host.shaper->Error(); host.unenforced != error)
    {
        host.unenforced = error;
        WriteDown(host.name, error ? Announced{"unenforced", {{"error", *error}}} : Announced{"enforced", Json::object()});
    }
}

void Daemon::Note(const MemberHost& host, const Member::Event& event)
{
    WriteDown(host.name, AnnouncedOf(event));
    using Kind = Member::Event::Kind;
    const auto say = [&](const std::string& words) { std::printf("%s: %s\n", host.name.c_str(), words.c_str()); };
    switch (event.kind)
    {
    case Kind::BudgetChanged:
        say(event.budget ? "the budget is " + std::to_string(*event.budget) + " bit/s" : "no budget applies");
        return;
    case Kind::Joined:
        say("the allocator granted a lease");
        return;
    case Kind::Refused:
        say(event.reason == Reason::Full ? "the allocator has no room for another member"
                                         : "the allocator takes no other member of this host's address");
        return;
    case Kind::LeaseLost:
        say("the lease ended without an answer of the allocator");
        return;
    case Kind::Unreachable:
        say("the allocator does not answer");
        return;
    case Kind::Reachable:
        say("the allocator answers again");
        return;
    case Kind::OtherAllocator:
        say("another allocator announces budgets for this link: two manage one bottleneck");
        return;
    case Kind::Left:
        say("left");
        return;
    }
}

/// A full disk must not end the management of a link.
void Daemon::WriteState(Time now)
{
    try
    {
        m_state.Write(Read().dump(1, ' ', false, Json::error_handler_t::replace) + "\n", now);
        m_stateFailure.clear();
    }
    catch (const std::system_error& error)
    {
        if (m_stateFailure != error.what())
        {
            m_stateFailure = error.what();
            std::fprintf(stderr, "c2ml: %s\n", error.what());
        }
    }
}

Json Daemon::Read() const
{
    auto parts = Json::array();
    const auto add = [&](const std::string& name, const char* role, Json statistics, const Sending& sending) -> Json& {
        statistics["name"] = name;
        statistics["role"] = role;
        statistics["unsent"] = sending.unsent;
        statistics["last_failure"] = sending.unsent > 0 ? Json(sending.lastFailure) : Json(nullptr);
        return parts.emplace_back(std::move(statistics));
    };
    for (const auto& host : m_allocators)
    {
        auto& part = add(host.name, "allocator", host.allocator ? host.allocator->Read() : Json::object(), host.sending);
        if (host.part.follows)
        {
            part["told"] = host.teller.told ? Json(*host.teller.told) : Json(nullptr);
        }
    }
    for (const auto& host : m_members)
    {
        auto& part = add(host.name, "member", host.member.Read(), host.sending);
        part["enforcement"] = NameOf(host.enforcement);
        if (host.shaper)
        {
            part["shaper"] = host.shaper->Read();
        }
        if (host.group)
        {
            const auto& error = host.group->Error();
            part["group"] = {{"address", TextOf(host.group->Group())}, {"error", error.empty() ? Json(nullptr) : Json(error)}};
        }
        if (host.access)
        {
            part["told"] = host.access->told ? Json(*host.access->told) : Json(nullptr);
        }
    }
    return {{"management", parts}};
}

Json Daemon::Answer(const std::string& method, const Json& params)
{
    if (method == "read")
    {
        return Read();
    }
    if (method != "set")
    {
        throw json_rpc::Refusal{json_rpc::Code::MethodNotFound, "no method \"" + method + "\": there are read and set"};
    }
    try
    {
        return Set(params);
    }
    catch (const std::invalid_argument& error)
    {
        throw json_rpc::Refusal{json_rpc::Code::InvalidParams, error.what()};
    }
}

Json Daemon::Set(const Json& params)
{
    const auto text = [&](const char* key) {
        const auto value = params.find(key);
        if (value == params.end() || !value->is_string())
        {
            throw std::invalid_argument("set takes name (of the link), parameter (capacity_bps or access_bps) and value");
        }
        return value->get<std::string>();
    };
    const auto name = text("name");
    const auto parameter = text("parameter");
    const auto value = params.value("value", Json());
    const auto now = Now();
    if (parameter == "capacity_bps")
    {
        auto& host = PartNamed(m_allocators, name);
        if (host.part.follows)
        {
            throw std::invalid_argument("a netbox tells what the allocator of " + name + " divides: change the link's rate there");
        }
        Divide(host, RateIn(value, parameter), now);
    }
    else if (parameter == "access_bps")
    {
        auto& host = PartNamed(m_members, name);
        host.member.SetAccess(value.is_null() ? MOST_RATE : RateIn(value, parameter), now);
        Settle(host, now);
    }
    else
    {
        throw std::invalid_argument("no parameter \"" + parameter + "\": there are capacity_bps and access_bps");
    }
    return {{"name", name}, {"parameter", parameter}, {"value", value}};
}

} // namespace netboxit::middleware
