// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "segment.h"

namespace netboxit
{

/// What can be changed while a segment runs, and the limits of what is a number: as the technology's parameters.py has it, by way of
/// netbox.json ("live"). Without it nothing can be changed.
class LiveLimits
{
  public:
    /// `said`: {segment: {name: {} or {minimum, maximum, unit}}, stations: the same}, in base units. `stations` are the names of the
    /// segment's stations. Null: nothing. Throws std::invalid_argument.
    LiveLimits(const Json& said, std::vector<std::string> stations);

    /// Whether `name`, or "station.name", can become `value`. Throws UnknownParameter or OutOfRange, which say what can be changed and
    /// within what limits.
    void Check(std::string_view name, const Json& value) const;

  private:
    struct Parameter
    {
        std::string name;
        bool isNumber{};
        double minimum{};
        double maximum{};
        std::string unit;
    };
    using Parameters = std::vector<Parameter>;

    static Parameters Read(const Json& said, const std::string& whose);

    std::vector<std::string> m_stations;
    Parameters m_ofSegment;
    Parameters m_ofStation;
};

} // namespace netboxit
