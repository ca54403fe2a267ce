// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "segment.h"

namespace netboxit
{

/// A number that changes with time, as netboxes/timeline.py writes it into a configuration: [[seconds, value], …], times rising.
class Timeline
{
  public:
    enum class Between
    {
        Hold, ///< a value holds until the next point
        Line, ///< straight lines from point to point
    };

    /// Throws std::invalid_argument when there is no point or times do not rise.
    Timeline(const Json& points, Between between);

    /// The value so long after time 0; the first one before the first point, the last one after the last.
    double At(double seconds) const;

    /// The time of the first point after `seconds`; none when there is no more.
    std::optional<double> Next(double seconds) const;

  private:
    struct Point
    {
        double time;
        double value;
    };

    std::vector<Point>::const_iterator After(double seconds) const;

    std::vector<Point> m_points;
    Between m_between;
};

} // namespace netboxit
