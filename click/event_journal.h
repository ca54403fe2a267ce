// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "descriptor.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace netboxit::click
{

/// What happens in a router, a JSON object a line (docs/architecture.md, "Journal"). Each line is written at once: there are few.
class EventJournal
{
  public:
    /// Starts the file, whose times count from `now` (since 1970), or goes on with it: a router that is started again counts from its first
    /// start. Without a path nothing is written. Throws std::system_error.
    EventJournal(const std::string& path, std::chrono::nanoseconds now);

    /// What the disk refuses, or is beyond the file's greatest length, is lost, and the first time that is said on standard error.
    void Add(const std::string& interface, std::string_view event, const nlohmann::json& details, std::chrono::nanoseconds now);

    /// {stations: {interface: {…}}}: what is counted now. In the first half of the file only, which is full after days: there stays
    /// room for events.
    void Sample(const nlohmann::json& statistics, std::chrono::nanoseconds now);

  private:
    /// Bytes of a file, as a netbox's journal has at most (netboxes/engine/journal.h).
    static constexpr std::uint64_t LONGEST = 64 << 20;

    double Since(std::chrono::nanoseconds now) const;
    void Write(const nlohmann::json& line);

    std::optional<Descriptor> m_file;
    std::chrono::nanoseconds m_began;
    std::uint64_t m_length{}; ///< bytes
    bool m_isRefused{false};
    bool m_isHalfFull{false};
    bool m_isCut{false}; ///< the disk took a part of the last line
};

} // namespace netboxit::click
