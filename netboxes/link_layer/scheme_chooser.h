// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "multi_service_link.h"

#include <array>
#include <functional>
#include <vector>

namespace netboxit::multiservice
{

/// Chooses the schemes of services that say `by-loss`, by the share of frames that the link loses: an end measures over an interval how many
/// frames came damaged, and the worse direction decides. It stands for ends that tell each other what they measure, and agree on a reset.
///
/// A service that says so has `choices`: settings of schemes, in the order of the loss `above` which each is taken, the first one from 0 on. A
/// choice is left for an earlier one only where the loss is below half of its `above`.
class SchemeChooser
{
  public:
    /// `change` is called where other choices are to be put into force. All outlive this.
    SchemeChooser(Timebase& timebase, const MultiServiceLink& one, const MultiServiceLink& other, std::function<void()> change);

    /// The services as the parameters have them, and the interval in s. A service that has as many choices as before keeps its choice, others
    /// begin with the first.
    void Set(const Json& services, double interval);

    /// Services as the parameters have them, each with the settings of its choice. Of one that Set() was not told, that is the first.
    Json Chosen(const Json& services) const;

    /// The same, each with this choice, or its last one; for checks.
    static Json WithChoice(const Json& services, std::size_t choice);
    /// How many there are at most, of one service; 1 where none has choices.
    static std::size_t MostChoices(const Json& services);

  private:
    struct Counts
    {
        std::uint64_t damaged{};
        std::uint64_t frames{}; ///< with those
    };

    void Look();
    /// Of all frames that an end was sent since the last call; nothing where they are too few.
    std::optional<double> LossOf(std::size_t end);

    std::array<const MultiServiceLink*, 2> m_ends;
    std::function<void()> m_change;
    Json m_services = Json::array();
    std::vector<std::size_t> m_choices; ///< by service
    std::array<Counts, 2> m_before{};
    std::int64_t m_interval{}; ///< ns
    Timer m_looking;
};

} // namespace netboxit::multiservice
