// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "deficits.h"
#include "weighted_scheduler.h"

#include <array>

namespace netboxit::queueing
{

/// Lines in an aggregate of QFQ+, as many as in the one of Linux (sch_qfq, QFQ_MAX_AGG_CLASSES).
constexpr std::size_t QFQ_PLUS_AGGREGATE = 8;

/// Quick fair queueing (Checconi, Rizzo and Valente, 2013), and QFQ+ (Valente, 2014), which has it order aggregates of lines of the same
/// weight whose lines take turns by deficits. Near WF2Q+ in constant time: aggregates are in groups by how long their greatest service
/// takes in virtual time, a power of two; within a group they are sorted by slots of that time, and sets of bits say which groups may go.
class Qfq : public WeightedScheduler
{
  public:
    /// `longest` is the longest packet, bytes; a longer one goes, but bounds are those of its length. `most` lines are in an aggregate; 1
    /// is QFQ itself.
    Qfq(const Weights& weights, std::uint32_t longest, std::size_t most);

    void Begin(LineId line, std::uint32_t bytes) override;
    LineId Next() override;
    void Sent(LineId line, std::uint32_t bytes, std::uint32_t following) override;
    void TakenOut(LineId line, std::uint32_t following) override;
    void Weigh(LineId line, std::uint32_t weight) override;

  private:
    /// Bytes by weight, in units of 2^-20. It goes round after 2^44 bytes of the least weight; what is compared is closer.
    using Stamp = std::uint64_t;
    using Groups = std::uint64_t; ///< a set of groups, a bit for each

    struct Aggregate
    {
        std::uint32_t lineWeight{};
        std::uint32_t members{}; ///< lines that are in it, with or without packets
        Stamp start{};
        std::uint8_t group{};
        std::uint8_t place{}; ///< in the group's `slots`, while it waits there
        LineList lines; ///< those that have something

        std::uint64_t Weight() const
        {
            return std::uint64_t{lineWeight} * members;
        }
    };

    /// Aggregates whose greatest service takes between a half of a slot and one slot.
    struct Group
    {
        static constexpr unsigned SLOTS = 64;

        Stamp start{};        ///< of its first slot that has something
        std::uint64_t full{}; ///< slots that have something, from the first one on
        unsigned first{};     ///< where in `slots` its first one is
        std::array<LineList, SLOTS> slots;
    };

    Stamp Slot(unsigned group) const
    {
        return Stamp{1} << group;
    }

    Stamp Floor(Stamp stamp, unsigned group) const
    {
        return stamp & ~(Slot(group) - 1);
    }

    Stamp End(unsigned group) const
    {
        return m_groups[group].start + 2 * Slot(group);
    }

    void Join(LineId line, std::uint32_t weight, std::uint32_t aggregate);
    std::uint32_t RoomFor(std::uint32_t weight, Stamp start);
    void Begin(LineId line, std::uint32_t bytes, Stamp earliest);
    void Queue(std::uint32_t aggregate);
    void Unqueue(std::uint32_t aggregate);
    void Classify(unsigned group);
    void Forget(unsigned group);
    void Unblock(unsigned group);
    void Advance(Stamp until);
    void Serve();
    void EndService();

    std::vector<Aggregate> m_aggregates;
    std::vector<std::uint32_t> m_aggregateOf; ///< by line
    std::uint32_t m_longest;
    std::size_t m_most; ///< lines in an aggregate
    Deficits m_deficits;
    LineNeighbours m_lines;
    LineNeighbours m_queued; ///< aggregates in their slots
    std::array<Group, 64> m_groups;
    // Groups that have something: those that have begun in virtual time or not, and of each those that have to wait for a later one that
    // ends before them (their section 4).
    Groups m_ready{0};
    Groups m_blocked{0};
    Groups m_early{0};
    Groups m_earlyBlocked{0};
    Stamp m_now{0};
    std::uint64_t m_weight{0}; ///< of all
    std::uint64_t m_remainder{0}; ///< of `m_now`, in parts of the weight
    std::uint32_t m_served{NO_LINE}; ///< the aggregate in service
    std::uint64_t m_sent{0};         ///< by it, bytes
};

} // namespace netboxit::queueing
