// SPDX-License-Identifier: GPL-2.0-or-later
#include "virtual_wires.h"

#include <algorithm>
#include <stdexcept>

namespace netboxit
{

std::size_t VirtualWires::Add(WireEndpoint& end)
{
    m_ends.push_back(&end);
    return m_ends.size() - 1;
}

void VirtualWires::Notice(std::size_t end)
{
    m_waiting.push_back({end, m_number++});
    std::ranges::push_heap(m_waiting, std::greater());
}

void VirtualWires::EnterNext(std::int64_t now)
{
    std::ranges::pop_heap(m_waiting, std::greater());
    auto* const end = m_ends[m_waiting.back().end];
    m_waiting.pop_back();
    if (now != m_now)
    {
        m_now = now;
        m_atOnce = 0;
        m_circle.clear();
    }
    if (++m_atOnce > MOST_AT_ONCE - SHOWN)
    {
        m_circle.insert(end->WireName());
    }
    if (m_atOnce > MOST_AT_ONCE)
    {
        std::string circle;
        for (const auto& name : m_circle)
        {
            circle += (circle.empty() ? "" : ", ") + name;
        }
        throw std::runtime_error("frames go round at " + std::to_string(static_cast<double>(now) / 1e9) +
                                 " s without time passing, by " + circle +
                                 ": give a netbox on this circle a delay or a rate, or open the circle");
    }
    end->Enter();
}

} // namespace netboxit
