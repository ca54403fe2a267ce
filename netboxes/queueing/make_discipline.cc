// SPDX-License-Identifier: GPL-2.0-or-later
#include "make_discipline.h"

#include "../engine/checked.h"
#include "fq_codel.h"
#include "pie.h"
#include "priority.h"
#include "red.h"

#include <cmath>

namespace netboxit::queueing
{

namespace
{

/// Reads a parameter `queue`. The limits are those of queue.py.
class Said
{
  public:
    explicit Said(const Json& queue) : m_queue(queue)
    {
    }

    double Number(const char* key, double minimum, double maximum, std::string_view unit = {}) const
    {
        return Checked(m_queue, "queue", key, minimum, maximum, unit);
    }

    Room ReadRoom() const
    {
        Room room;
        if (Has("packets"))
        {
            room.packets = static_cast<std::size_t>(Number("packets", 1, 1e6));
        }
        if (Has("bytes"))
        {
            room.bytes = static_cast<std::uint64_t>(Number("bytes", 1514, 2e9, "B"));
        }
        if (Has("buffer"))
        {
            room.buffer = Number("buffer", 1e-3, 60.0, "s");
        }
        return room;
    }

    CodelLaw ReadCodelLaw() const
    {
        const auto target = Number("target", 1e-4, 10.0, "s");
        const auto interval = Number("interval", 1e-3, 60.0, "s");
        return {std::llround(target * 1e9), std::llround(interval * 1e9), 1514};
    }

    Red::Settings ReadRed() const
    {
        const Red::Settings settings{Number("minimum", 1, 1e6, "packets"),
                                     Number("maximum", 1, 1e6, "packets"),
                                     Number("probability", 1e-6, 1.0),
                                     Number("weight", 1e-6, 1.0)};
        if (settings.minimum >= settings.maximum)
        {
            throw OutOfRange("queue cannot be " + m_queue.dump() + "; its minimum is below its maximum");
        }
        return settings;
    }

  private:
    bool Has(const char* key) const
    {
        return m_queue.is_object() && m_queue.contains(key) && !m_queue.at(key).is_null();
    }

    const Json& m_queue;
};

} // namespace

std::unique_ptr<Discipline> MakeDiscipline(const Json& queue, Chance chance, Dropped dropped)
{
    const auto name = CheckedWord(queue, "queue", "discipline", {"fifo", "priority", "codel", "fq-codel", "pie", "red"});
    const Said said(queue);
    const auto room = said.ReadRoom();
    if (name == "priority")
    {
        return std::make_unique<Priority>(room, std::move(dropped));
    }
    if (name == "codel")
    {
        return std::make_unique<Codel>(room, said.ReadCodelLaw(), std::move(dropped));
    }
    if (name == "fq-codel")
    {
        const auto quantum = static_cast<std::uint32_t>(said.Number("quantum", 64, 65536, "B"));
        const auto flows = static_cast<std::size_t>(said.Number("flows", 1, 65536));
        return std::make_unique<FqCodel>(room, flows, quantum, said.ReadCodelLaw(), std::move(dropped));
    }
    if (name == "pie")
    {
        const Pie::Settings settings{said.Number("target", 1e-4, 10.0, "s"),
                                     said.Number("interval", 1e-3, 60.0, "s"),
                                     said.Number("burst", 0.0, 60.0, "s")};
        return std::make_unique<Pie>(room, settings, std::move(chance), std::move(dropped));
    }
    if (name == "red")
    {
        return std::make_unique<Red>(room, said.ReadRed(), std::move(chance), std::move(dropped));
    }
    return std::make_unique<Fifo>(room, std::move(dropped));
}

} // namespace netboxit::queueing
