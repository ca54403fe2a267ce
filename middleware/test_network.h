// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "allocator.h"
#include "member.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <set>
#include <vector>

namespace netboxit::middleware::testing
{

/// Bytes around a message on Ethernet with its FCS: IPv4 and UDP.
constexpr std::size_t IPV4_HEADERS = 14 + 4 + 20 + 8;
constexpr std::uint32_t DOMAIN_NUMBER = 7;
inline const Address GATEWAY = Ipv4Address(0x0a000001, ALLOCATOR_PORT);

/// How datagrams are treated, each copy of a multicast by itself.
struct Medium
{
    Time delay{50 * MILLISECOND}; ///< one way
    Time jitter{};                ///< up to so much more: datagrams overtake one another
    double loss{};
    double duplicates{};
};

/// An allocator and members that exchange datagrams in simulated time.
class Network
{
  public:
    explicit Network(const Allocator::Settings& settings, const Medium& medium = {}, unsigned seed = 1)
        : medium(medium),
          settings(settings),
          random(seed)
    {
    }

    /// Begins the allocator, or begins it anew without anything that it knew.
    void StartAllocator()
    {
        instance = random();
        allocator = std::make_unique<Allocator>(settings, Allocator::Secrets{.instance = instance, .tokens = {random(), random()}}, now);
        Send();
    }

    void StopAllocator()
    {
        allocator.reset();
    }

    Address AddressOf(std::size_t member) const
    {
        return Ipv4Address(0x0a010000 + static_cast<std::uint32_t>(member), MEMBER_PORT);
    }

    /// Adds members, which do not join yet.
    void Add(std::size_t count, Member::WithoutLease withoutLease = Member::WithoutLease::Unmanaged, unsigned threshold = 200)
    {
        for (std::size_t added = 0; added < count; ++added)
        {
            const Member::Settings made{
                .domain = DOMAIN_NUMBER, .allocator = GATEWAY, .key = settings.key, .withoutLease = withoutLease, .threshold = threshold};
            members.push_back(std::make_unique<Member>(made, [engine = std::mt19937_64(random())]() mutable { return engine(); }));
            events.emplace_back();
            isConnected.push_back(true);
            due.push_back(NEVER);
        }
    }

    void JoinAll()
    {
        for (auto& member : members)
        {
            member->Join(now);
        }
        for (std::size_t member = 0; member < members.size(); ++member)
        {
            SendOf(member);
        }
    }

    /// Sends what the allocator has to say: after each call to it.
    void Send()
    {
        if (allocator)
        {
            for (auto& datagram : allocator->TakeDatagrams())
            {
                CountSent(datagram);
                if (datagram.to)
                {
                    unicasts += 1;
                    Deliver(GATEWAY, *datagram.to, datagram.bytes);
                    continue;
                }
                multicasts += 1;
                for (std::size_t member = 0; member < members.size(); ++member)
                {
                    Deliver(GATEWAY, AddressOf(member), datagram.bytes);
                }
            }
        }
    }

    /// The same of a member.
    void SendOf(std::size_t member)
    {
        for (auto& datagram : members[member]->TakeDatagrams())
        {
            CountSent(datagram);
            if (isConnected[member])
            {
                Deliver(AddressOf(member), *datagram.to, datagram.bytes);
            }
        }
        for (const auto& event : members[member]->TakeEvents())
        {
            events[member].push_back(event);
        }
        dues.erase({due[member], member});
        due[member] = members[member]->Due();
        dues.emplace(due[member], member);
    }

    /// A datagram of anybody, also one with a false source.
    void Deliver(const Address& from, const Address& to, const std::vector<std::uint8_t>& bytes)
    {
        const auto chance = [this] { return std::uniform_real_distribution{}(random); };
        const int copies = chance() < medium.duplicates ? 2 : 1;
        for (int copy = 0; copy < copies; ++copy)
        {
            if (chance() >= medium.loss)
            {
                const auto more = static_cast<Time>(static_cast<double>(medium.jitter) * chance());
                arrivals.push({.at = now + medium.delay + more, .order = ++order, .from = from, .to = to, .bytes = bytes});
            }
        }
    }

    void RunUntil(Time end, const std::function<bool()>& isDone = [] { return false; })
    {
        while (!isDone())
        {
            const bool isMember = !dues.empty() && dues.begin()->first < (allocator ? allocator->Due() : NEVER);
            auto next = isMember ? dues.begin()->first : allocator ? allocator->Due() : NEVER;
            const bool arrives = !arrivals.empty() && arrivals.top().at <= next;
            next = arrives ? arrivals.top().at : next;
            if (next > end || next == NEVER)
            {
                break;
            }
            now = std::max(now, next);
            if (arrives)
            {
                Arrive();
            }
            else if (isMember)
            {
                const auto member = dues.begin()->second;
                members[member]->Advance(now);
                SendOf(member);
            }
            else
            {
                allocator->Advance(now);
                Send();
            }
        }
        now = isDone() ? now : std::max(now, end);
    }

    /// All have a lease of this allocator and the budget that the allocator announced.
    bool IsConverged() const
    {
        return allocator && allocator->Members().size() == members.size() && std::ranges::all_of(members, [this](const auto& member) {
                   return member->HasLease() && member->Instance() == instance &&
                          member->Budget() == allocator->Announced().share;
               });
    }

    Rate Applied() const
    {
        Rate sum = 0;
        for (const auto& member : members)
        {
            sum += member->Budget().value_or(0);
        }
        return sum;
    }

    int Count(std::size_t member, Member::Event::Kind kind) const
    {
        return static_cast<int>(std::ranges::count(events[member], kind, &Member::Event::kind));
    }

    Medium medium;
    Allocator::Settings settings;
    std::mt19937_64 random;
    std::uint64_t instance{}; ///< of the allocator
    Time now{SECOND};
    std::unique_ptr<Allocator> allocator;
    std::vector<std::unique_ptr<Member>> members;
    std::vector<std::vector<Member::Event>> events;
    std::vector<bool> isConnected;
    std::uint64_t unicasts{};   ///< of the allocator
    std::uint64_t multicasts{}; ///< of the allocator, each once
    std::uint64_t bits{};       ///< of all that was sent, with headers

  private:
    struct Arrival
    {
        Time at;
        std::uint64_t order;
        Address from;
        Address to;
        std::vector<std::uint8_t> bytes;

        bool operator<(const Arrival& other) const
        {
            return at != other.at ? at > other.at : order > other.order;
        }
    };

    void CountSent(const Datagram& datagram)
    {
        bits += 8 * (datagram.bytes.size() + IPV4_HEADERS);
    }

    void Arrive()
    {
        const auto arrival = arrivals.top();
        arrivals.pop();
        if (arrival.to == GATEWAY)
        {
            if (allocator)
            {
                allocator->Receive(arrival.bytes, arrival.from, now);
                Send();
            }
            return;
        }
        // The numbers of members are the last bytes of their addresses.
        const auto member = static_cast<std::size_t>(arrival.to.host[14]) << 8 | arrival.to.host[15];
        if (isConnected[member])
        {
            members[member]->Receive(arrival.bytes, arrival.from, now);
            SendOf(member);
        }
    }

    std::priority_queue<Arrival> arrivals;
    std::vector<Time> due;
    std::set<std::pair<Time, std::size_t>> dues;
    std::uint64_t order{};
};

inline Allocator::Settings SettingsFor(Rate capacity)
{
    return {.domain = DOMAIN_NUMBER, .capacity = capacity, .recovers = false};
}

} // namespace netboxit::middleware::testing
