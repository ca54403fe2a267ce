// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "capacity_request.h"

#include <array>
#include <deque>

namespace netboxit
{

/// The remainder of a superframe's number, 0 … count-1. Numbers are negative when a change of rate moved the time of the first.
inline std::size_t Modulo(std::int64_t number, std::size_t count)
{
    const auto divisor = static_cast<std::int64_t>(count);
    return static_cast<std::size_t>((number % divisor + divisor) % divisor);
}

/// What one terminal is assigned in one superframe.
struct Assignment
{
    std::array<std::uint32_t, METHODS.size()> slots{}; ///< by method
    std::uint32_t first{};                             ///< position of the first of them in the plan
    std::vector<double> volume;                        ///< bytes, by request class, that volume requests are served with

    std::uint32_t Slots() const
    {
        std::uint32_t sum = 0;
        for (const auto number : slots)
        {
            sum += number;
        }
        return sum;
    }
};

/// The network control centre: keeps what terminals have asked for and makes the burst time plan of each superframe (TBTP2).
/// Constant rates come first, then rates and volumes asked for, each in the order of the request classes, then free capacity; where there
/// is too little of a kind, all have as much of it as the one who has least (max-min fairness).
class NetworkControl
{
  public:
    /// A terminal's request classes, in the order in which they are served.
    using Terminal = std::vector<RequestClass>;
    /// Bytes a slot carries for a terminal now; 0 when it cannot be reached.
    using Payload = std::function<double(std::size_t terminal)>;

    NetworkControl(std::vector<Terminal> terminals, Payload payload);

    /// A request that will arrive.
    void Receive(const CapacityRequest& request);
    /// The plan of a superframe of so many slots on all carriers together, of which a terminal can use `each`, made at `now` from
    /// all requests that have arrived until `deadline`. To be called for rising superframes.
    const std::vector<Assignment>& Plan(std::int64_t superframe, double duration, std::uint32_t slots, std::uint32_t each, ns3::Time deadline);
    /// Nobody has anything to come.
    bool IsIdle() const;

    void SetCraRate(std::size_t terminal, double rate);
    void SetRbdcMaximum(std::size_t terminal, double rate);

  private:
    /// What one terminal has asked for, by one request class.
    struct Account
    {
        RequestClass parameters;
        double rate{}; ///< bit/s
        ns3::Time rateUntil;
        double volume{}; ///< bytes
    };

    void Accept(const CapacityRequest& request);
    void Share(Method method, std::size_t requestClass, std::int64_t superframe, double duration);
    std::uint32_t Demand(std::size_t terminal, const Account& account, Method method, std::int64_t superframe, double duration) const;
    void ShareFree(std::int64_t superframe);
    /// Grants `m_demands` as far as there is room, and leaves what was granted in them.
    void Grant(std::int64_t superframe);
    std::uint32_t Room(std::size_t terminal) const;

    std::vector<std::vector<Account>> m_accounts; ///< by terminal and request class
    Payload m_payload;
    std::deque<CapacityRequest> m_pending; ///< by arrival
    std::vector<Assignment> m_plan;
    std::vector<std::uint32_t> m_demands;
    std::vector<std::size_t> m_order;
    std::uint32_t m_left{};
    std::uint32_t m_each{};
    ns3::Time m_deadline;
};

} // namespace netboxit
