// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "burst_filler.h"

#include <algorithm>
#include <array>

namespace netboxit
{

/// How capacity of the return channel is come by (EN 301 545-2, 9.2.2.2: capacity categories).
enum class Method
{
    Cra,  ///< constant rate assignment: agreed, without request
    Rbdc, ///< rate-based dynamic capacity: a rate asked for, that holds until the next request or for a time
    Vbdc, ///< volume-based dynamic capacity: bytes, added to those that were asked for before
    Avbdc, ///< absolute volume-based dynamic capacity: bytes, in the place of those that were asked for before
    Fca,  ///< free capacity assignment: what is left, without request
};

inline constexpr std::array METHODS{Method::Cra, Method::Rbdc, Method::Vbdc, Method::Avbdc, Method::Fca};
inline constexpr std::array<const char*, 5> METHOD_NAMES{"CRA", "RBDC", "VBDC", "AVBDC", "FCA"};

/// What a terminal may ask for, for some of its traffic classes.
struct RequestClass
{
    std::vector<ClassId> classes;
    std::vector<Method> methods;
    double craRate{};     ///< bit/s
    double rbdcMaximum{}; ///< bit/s
    double rbdcTimeout{}; ///< s
    double vbdcMaximum{}; ///< bytes asked for and not yet assigned

    bool Uses(Method method) const
    {
        return std::ranges::find(methods, method) != methods.end();
    }
    bool IsDynamic() const
    {
        return Uses(Method::Rbdc) || Uses(Method::Vbdc) || Uses(Method::Avbdc);
    }
};

/// On its way from a terminal to the network control centre.
struct CapacityRequest
{
    std::size_t terminal;
    std::size_t requestClass;
    Method method;
    double amount; ///< bit/s (RBDC) or bytes
    ns3::Time arrival;
};

/// A terminal's side of one request class: what it asks for, and when.
class Requester
{
  public:
    /// What it knows when it may ask.
    struct Occasion
    {
        ns3::Time now;
        double loop;     ///< s from a request until the slots that it gives, at most
        double assigned; ///< bytes that slots already assigned will take
        double payload;  ///< bytes a slot
    };

    explicit Requester(const RequestClass& requestClass) : parameters(requestClass)
    {
    }

    /// A packet of its classes has come.
    void Arrived(const Packet& packet, const Encapsulation& encapsulation, ns3::Time now);
    /// Bytes of volume were assigned.
    void Assigned(double bytes);
    /// What to ask for now; nothing when all is asked for already.
    std::optional<std::pair<Method, double>> Ask(const BurstFiller& filler, const Occasion& occasion);
    /// A rate is held that should be let go or renewed, or something is queued.
    bool HasInterest(const BurstFiller& filler) const
    {
        return parameters.IsDynamic() && (m_rate > 0.0 || Backlog(filler) > 0.0);
    }

    RequestClass parameters;

  private:
    /// Bytes of its classes still to be sent, encapsulated.
    double Backlog(const BurstFiller& filler) const;
    std::optional<std::pair<Method, double>> AskForRate(double backlog, const Occasion& occasion);
    std::optional<std::pair<Method, double>> AskForVolume(double backlog, const Occasion& occasion);

    double m_arrivals{};    ///< bytes, each weighted by e to the -age/RATE_WINDOW
    ns3::Time m_arrivalsAt; ///< when they were weighted
    double m_rate{};        ///< last asked for, bit/s
    double m_volume{};      ///< asked for and not assigned yet, bytes
    ns3::Time m_asked;
};

} // namespace netboxit
