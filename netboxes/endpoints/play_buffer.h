// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <functional>

namespace netboxit
{

/// The play-out buffer of a player, by its clock: plays what it has, and stands still while it has nothing. The same rule as
/// applications/dash/play_buffer.py. Times are seconds, and never go back.
class PlayBuffer
{
  public:
    /// What it begins to do, "playing" or "stalled", and when.
    using Tell = std::function<void(const char*, double)>;

    /// Plays from `first` seconds of media on, and again from `again` on after it stood still.
    PlayBuffer(double first, double again, Tell tell);

    /// To a time.
    void Advance(double now);
    /// So many seconds of media have come.
    void Fill(double now, double media);

    /// Seconds of media that wait to be played.
    double Level() const
    {
        return m_level;
    }

  private:
    double m_needed; ///< before it plays
    double m_again;
    Tell m_tell;
    double m_level{0};
    double m_now{0};
    bool m_playing{false};
};

} // namespace netboxit
