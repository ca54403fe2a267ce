// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "cobalt.h"
#include "line.h"
#include "line_list.h"
#include "set_associative.h"

namespace netboxit::queueing
{

/// What CAKE shares a transmitter among.
enum class Isolation : std::uint8_t
{
    Flows,         ///< each flow has the same
    DualSrcHost,   ///< each source has the same, and each flow of it
    DualDstHost,   ///< each destination has the same, and each flow to it
    TripleIsolate, ///< a flow has less by the flows of its source, or of its destination, whichever are more
};

inline constexpr std::array<std::string_view, 4> ISOLATION_NAMES{"flows", "dual-srchost", "dual-dsthost", "triple-isolate"};

/// CAKE's fairness (Høiland-Jørgensen, Täht and Morton, "Piece of CAKE", 2018): flows have lines of their own, each under COBALT, which
/// take turns by DRR++: those that send less than their share come first. In a turn a flow may send a quantum, divided by the number of
/// flows of its host that take turns.
///
/// Its shaper is the queue's (`Shaper`), its tins are lines by traffic class (`ByClass`). It has no filter for acknowledgements.
class Cake : public Discipline
{
  public:
    struct Settings
    {
        std::size_t flows;
        std::uint32_t quantum; ///< bytes
        Isolation isolation;
    };

    Cake(Room room, const Settings& settings, const CobaltLaw& law, Chance chance, DropCallback dropped, MarkCallback mark);

    void Enqueue(const Waiting& frame, std::int64_t now, double rate) override;
    std::optional<Waiting> Dequeue(std::int64_t now) override;
    std::optional<Waiting> TakeOlder(std::int64_t since) override;
    std::uint32_t FirstBytes() const override;

    std::size_t Packets() const override
    {
        return m_packets;
    }

    std::uint64_t Bytes() const override
    {
        return m_bytes;
    }

    bool TellsFlowsApart() const override
    {
        return true;
    }

    bool TellsHostsApart() const override
    {
        return m_isolation != Isolation::Flows;
    }

    /// {flows: {sparse, bulk, unresponsive}, blue_dropped, collisions}.
    Json Read(std::int64_t now) const override;
    void ResetStatistics() override;

  private:
    enum class State : std::uint8_t
    {
        None,     ///< in no list
        Sparse,   ///< in the list of those that come first
        Waits,    ///< has nothing now, in the list of those that take turns until it has its turn
        Bulk,     ///< in the list of those that take turns
        Decaying, ///< has nothing, and its law still knows something of it
    };

    struct Flow
    {
        Line line;
        CobaltLaw law;
        std::int64_t credit{0}; ///< parts of a byte
        std::uint32_t source{0};
        std::uint32_t destination{0};
        State state{State::None};
    };

    struct Host
    {
        std::uint32_t flows{0}; ///< that are in any list
        std::uint32_t bulk{0};  ///< of these
    };

    /// The sources of flows, or their destinations.
    struct Hosts
    {
        std::uint32_t Find(std::uint32_t hash)
        {
            return places.Find(hash, [this](std::uint32_t place) { return of[place].flows == 0; });
        }

        SetAssociative places;
        std::vector<Host> of;
    };

    void Join(Flow& flow, const Waiting& frame);
    /// In another state it counts in another way with its hosts.
    void Become(Flow& flow, State state);
    void HasNothing(LineId number, std::int64_t now);
    std::optional<Waiting> Take(LineId number, std::int64_t now);
    void DropFromTheLongest(std::int64_t now);
    Waiting Pop(LineId number);
    LineList& ListOf(State state);
    std::int64_t Quantum(const Flow& flow) const;

    Room m_room;
    std::int64_t m_quantum;
    Isolation m_isolation;
    Chance m_chance;
    DropCallback m_dropped;
    MarkCallback m_mark;
    SetAssociative m_places;
    WaitingPool m_pool;
    std::vector<Flow> m_flows;
    std::vector<std::uint64_t> m_bytesOf; ///< by flow: beside each other, so that the longest line is found soon
    Hosts m_sources;
    Hosts m_destinations;
    LineNeighbours m_neighbours;
    LineList m_first;
    LineList m_turns;
    LineList m_decaying;
    std::size_t m_packets{0};
    std::uint64_t m_bytes{0};
    double m_rate{0};             ///< the latest, bit/s
    std::int64_t m_leastDelay{0}; ///< no packet waits for too long before at that rate, ns
    std::uint64_t m_blueDropped{0};
};

} // namespace netboxit::queueing
