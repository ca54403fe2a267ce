// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "address.h"
#include "shaping.h"

#include <optional>
#include <set>

namespace netboxit::middleware
{

/// Keeps a member's budget by a queue of the kernel on an interface (shaping.h), which it removes when there is no budget, and at
/// its end. What the kernel refuses is in Read(), and tried again.
class Shaper
{
  public:
    struct Settings
    {
        Address allocator;
        std::optional<std::string> interface; ///< nothing: the one by which the allocator is reached
        Exempt exempt;
    };

    /// Removes what a run left that was killed, from all interfaces. Whoever calls it has the members' port of this host.
    static void RemoveLeft();

    /// `taken`: interfaces that shapers of this process have. It outlives this.
    Shaper(Settings settings, std::set<std::string>& taken);
    ~Shaper();

    Shaper(const Shaper&) = delete;
    Shaper& operator=(const Shaper&) = delete;

    /// `budget` from 0 to MOST_RATE, bit/s; nothing where none applies.
    void Apply(std::optional<Rate> budget, Time now);
    /// Tries again what failed.
    void Advance(Time now);
    Time Due() const
    {
        return m_again;
    }

    /// Why the budget is not in force; nothing where it is.
    const std::optional<std::string>& Error() const
    {
        return m_error;
    }

    /// `interface` that is shaped, or null; `rate` that is in force there, bit/s, or null; `error` of the last try, or null.
    nlohmann::json Read() const;

  private:
    /// Makes the kernel have what m_budget says.
    void Follow();
    void Start();
    ShapedInterface Find() const;
    void CheckRoot(const std::string& interface) const;
    void Stop();

    Settings m_settings;
    std::set<std::string>& m_taken;
    std::optional<Rate> m_budget;
    std::optional<ShapedInterface> m_shaped; ///< while the queue is there
    std::optional<Rate> m_rate;              ///< of the queue
    std::optional<std::string> m_error;
    Time m_again{NEVER};
};

} // namespace netboxit::middleware
