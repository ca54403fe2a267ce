// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "limit.h"

namespace netboxit
{

/// What the parameters of a segment may be, and which of them can be changed while it runs: as the technology's
/// parameters.py has it, by way of netbox.json ("live"). Without it nothing can be changed.
class LiveLimits
{
  public:
    LiveLimits() = default;

    /// `said`: {segment: {name: limit}, stations: the same} (limit.h), in base units. `stations` are the names of the segment's
    /// stations. Throws std::invalid_argument.
    LiveLimits(const Json& said, std::vector<std::string> stations);

    /// Whether `name`, or "station.name", can become `value`. Throws UnknownParameter or OutOfRange, which say what can
    /// be changed and within what limits.
    void Check(std::string_view name, const Json& value) const;

    /// Whether a segment can begin with `parameters`, as far as there are limits. Throws OutOfRange.
    void CheckStart(const Json& parameters) const;

  private:
    struct Parameter
    {
        std::string name;
        std::shared_ptr<const Limit> limit;
        bool isRemovable{}; ///< it can become null
        bool isFixed{};     ///< it cannot be changed
    };
    using Parameters = std::vector<Parameter>;

    static Parameters Read(const Json& said, const std::string& whose);
    static void CheckStart(const Parameters& limits, const Json& parameters, const std::string& whose);

    std::vector<std::string> m_stations;
    Parameters m_ofSegment;
    Parameters m_ofStation;
};

} // namespace netboxit
