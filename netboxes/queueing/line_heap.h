// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "line_list.h"
#include "stamps.h"

#include <utility>

namespace netboxit::queueing
{

/// Lines by a stamp, the earliest first; of equal ones the one of the lower number. A binary heap that knows where each line is.
class LineHeap
{
  public:
    explicit LineHeap(std::size_t lines) : m_places(lines, NOWHERE)
    {
        m_heap.reserve(lines);
    }

    bool IsEmpty() const
    {
        return m_heap.empty();
    }

    bool Has(LineId line) const
    {
        return m_places[line] != NOWHERE;
    }

    LineId First() const
    {
        return m_heap.front().line;
    }

    VirtualTime Earliest() const
    {
        return m_heap.front().stamp;
    }

    void Push(LineId line, VirtualTime stamp)
    {
        m_heap.push_back({stamp, line});
        Rise(m_heap.size() - 1);
    }

    void Remove(LineId line)
    {
        const auto place = m_places[line];
        m_places[line] = NOWHERE;
        const auto last = m_heap.back();
        m_heap.pop_back();
        if (place < m_heap.size())
        {
            m_heap[place] = last;
            m_places[last.line] = place;
            Rise(place);
            Sink(m_places[last.line]);
        }
    }

  private:
    struct Entry
    {
        VirtualTime stamp;
        LineId line;
    };

    static constexpr auto NOWHERE = ~std::size_t{};

    static bool IsFirst(const Entry& one, const Entry& other)
    {
        return one.stamp == other.stamp ? one.line < other.line : one.stamp < other.stamp;
    }

    void Put(std::size_t place, const Entry& entry)
    {
        m_heap[place] = entry;
        m_places[entry.line] = place;
    }

    void Rise(std::size_t place)
    {
        const auto entry = m_heap[place];
        for (; place > 0 && IsFirst(entry, m_heap[(place - 1) / 2]); place = (place - 1) / 2)
        {
            Put(place, m_heap[(place - 1) / 2]);
        }
        Put(place, entry);
    }

    void Sink(std::size_t place)
    {
        const auto entry = m_heap[place];
        for (auto child = 2 * place + 1; child < m_heap.size(); child = 2 * place + 1)
        {
            child += child + 1 < m_heap.size() && IsFirst(m_heap[child + 1], m_heap[child]) ? 1 : 0;
            if (!IsFirst(m_heap[child], entry))
            {
                break;
            }
            Put(place, m_heap[child]);
            place = child;
        }
        Put(place, entry);
    }

    std::vector<Entry> m_heap;
    std::vector<std::size_t> m_places;
};

} // namespace netboxit::queueing
