// SPDX-License-Identifier: GPL-2.0-or-later
#include "discipline.h"

#include "checked.h"
#include "fq_codel.h"
#include "pie.h"
#include "red.h"

#include <cmath>

namespace netboxit::link
{

void Fifo::Enqueue(const Waiting& frame, std::int64_t, double)
{
    if (m_room.Holds(m_line.Packets(), m_line.Bytes(), frame.bytes))
    {
        m_line.Push(frame);
    }
    else
    {
        m_dropped(frame, Loss::QueueFull);
    }
}

std::optional<Waiting> Fifo::Dequeue(std::int64_t)
{
    return m_line.IsEmpty() ? std::nullopt : std::optional(m_line.Pop());
}

std::unique_ptr<Discipline> MakeDiscipline(const Json& queue,
                                           ns3::Ptr<ns3::UniformRandomVariable> random,
                                           Dropped dropped)
{
    const auto name = CheckedWord(queue, "queue", "discipline", {"fifo", "codel", "fq-codel", "pie", "red"});
    const auto number = [&queue](const char* key, double minimum, double maximum, std::string_view unit = {})
    { return Checked(queue, "queue", key, minimum, maximum, unit); };
    // The limits are those of parameters.py.
    const Room room{static_cast<std::size_t>(number("packets", 1, 1e6)),
                    static_cast<std::uint64_t>(number("bytes", 2e3, 2e9, "B"))};
    if (name == "red")
    {
        const Red::Settings settings{number("minimum", 1, 1e6, "packets"),
                                     number("maximum", 1, 1e6, "packets"),
                                     number("probability", 1e-6, 1.0),
                                     number("weight", 1e-6, 1.0)};
        if (settings.minimum >= settings.maximum)
        {
            throw OutOfRange("link: queue cannot be " + queue.dump() + "; its minimum is below its maximum");
        }
        return std::make_unique<Red>(room, settings, std::move(random), std::move(dropped));
    }
    if (name == "fifo")
    {
        return std::make_unique<Fifo>(room, std::move(dropped));
    }
    const double target = number("target", 1e-4, 10.0, "s");
    const double interval = number("interval", 1e-3, 60.0, "s");
    if (name == "pie")
    {
        const Pie::Settings settings{target, interval, number("burst", 0.0, 60.0, "s")};
        return std::make_unique<Pie>(room, settings, std::move(random), std::move(dropped));
    }
    const CodelLaw law(std::llround(target * 1e9), std::llround(interval * 1e9), 1514);
    if (name == "codel")
    {
        return std::make_unique<Codel>(room, law, std::move(dropped));
    }
    const auto quantum = static_cast<std::uint32_t>(number("quantum", 64, 65536, "B"));
    const auto flows = static_cast<std::size_t>(number("flows", 1, 65536));
    return std::make_unique<FqCodel>(room, flows, quantum, law, std::move(dropped));
}

} // namespace netboxit::link
