// SPDX-License-Identifier: GPL-2.0-or-later
#include "shaper.h"

#include "command.h"
#include "route.h"

#include <cstdio>
#include <stdexcept>

namespace netboxit::middleware
{

namespace
{

using Json = nlohmann::json;

/// A route or an interface may come later. Our own choice.
constexpr Time RETRY = 5 * SECOND;

void Batch(const std::string& lines)
{
    Answer({TC, "-batch", "-"}, lines);
}

} // namespace

void Shaper::RemoveLeft()
{
    try
    {
        for (const auto& interface : ShapedInterfaces(Json::parse(Answer({TC, "-json", "qdisc", "show"}))))
        {
            Batch(EndOfShaping(interface));
        }
    }
    catch (const std::exception& error)
    {
        std::fprintf(stderr, "c2ml: looking for shapers of a killed run: %s\n", error.what());
    }
}

Shaper::Shaper(Settings settings, std::set<std::string>& taken) : m_settings(std::move(settings)), m_taken(taken)
{
}

Shaper::~Shaper()
{
    try
    {
        Stop();
    }
    catch (const std::exception&)
    {
        // Only where the interface has gone, or somebody replaced the queue: nothing of it is left.
    }
}

void Shaper::Apply(std::optional<Rate> budget, Time now)
{
    m_budget = budget;
    m_again = now;
    Advance(now);
}

void Shaper::Advance(Time now)
{
    if (m_again > now)
    {
        return;
    }
    try
    {
        Follow();
        m_error.reset();
        m_again = NEVER;
    }
    catch (const std::exception& error)
    {
        m_error = error.what();
        m_again = now + RETRY;
    }
}

void Shaper::Follow()
{
    if (!m_budget)
    {
        Stop();
        return;
    }
    if (!m_shaped)
    {
        Start();
        return;
    }
    if (m_rate == m_budget)
    {
        return;
    }
    try
    {
        Batch(ChangeOfShaping(*m_shaped, *m_budget));
        m_rate = m_budget;
    }
    catch (const std::runtime_error&)
    {
        // Somebody removed the queue, or the interface was made anew.
        m_taken.erase(m_shaped->name);
        m_shaped.reset();
        m_rate.reset();
        Start();
    }
}

void Shaper::Start()
{
    auto interface = Find();
    if (m_taken.contains(interface.name))
    {
        throw std::runtime_error("interface " + interface.name + " has the shaper of another link: one interface has one " +
                                 "budget, so give one of both links the enforcement \"none\"");
    }
    CheckRoot(interface.name);
    try
    {
        Batch(StartOfShaping(interface, *m_budget, m_settings.exempt));
    }
    catch (const std::runtime_error& error)
    {
        // A part of it may be there.
        RunCommand({TC, "-batch", "-"}, EndOfShaping(interface.name));
        throw std::runtime_error(std::string(error.what()) + "; HTB, TBF and u32 filters are needed, and the right to set them " +
                                 "(CAP_NET_ADMIN): else take the enforcement \"none\"");
    }
    m_taken.insert(interface.name);
    m_shaped = std::move(interface);
    m_rate = m_budget;
}

ShapedInterface Shaper::Find() const
{
    const auto name = m_settings.interface ? *m_settings.interface : InterfaceTo(m_settings.allocator.host);
    return ShapedInterfaceOf(Json::parse(Answer({IP, "-json", "link", "show", "dev", name})));
}

void Shaper::CheckRoot(const std::string& interface) const
{
    switch (RootOf(Json::parse(Answer({TC, "-json", "qdisc", "show", "dev", interface}))))
    {
    case Root::Kernel:
        return;
    case Root::Own:
        // A change of it failed.
        Batch(EndOfShaping(interface));
        return;
    case Root::Foreign:
        throw std::runtime_error("interface " + interface + " has a root qdisc of somebody else, which is left as it is: " +
                                 "remove it (tc qdisc del dev " + interface + " root), or take the enforcement \"none\"");
    }
}

void Shaper::Stop()
{
    if (!m_shaped)
    {
        return;
    }
    const auto name = m_shaped->name;
    m_taken.erase(name);
    m_shaped.reset();
    m_rate.reset();
    Batch(EndOfShaping(name));
}

Json Shaper::Read() const
{
    return {{"interface", m_shaped ? Json(m_shaped->name) : Json(nullptr)},
            {"rate", m_rate ? Json(*m_rate) : Json(nullptr)},
            {"error", m_error ? Json(*m_error) : Json(nullptr)}};
}

} // namespace netboxit::middleware
