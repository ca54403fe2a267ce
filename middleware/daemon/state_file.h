// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "rate.h"

#include <string>

namespace netboxit::middleware
{

/// What the daemon says of itself, for whoever reads a file: always a whole document (the new one takes the old one's name).
class StateFile
{
  public:
    explicit StateFile(std::string path) : m_path(std::move(path))
    {
    }

    /// Something may have changed.
    void Touch()
    {
        m_isTouched = true;
    }

    /// When it may be written again; NEVER where nothing changed.
    Time Due() const
    {
        return m_isTouched ? m_next : NEVER;
    }

    /// Throws std::system_error.
    void Write(const std::string& text, Time now);

  private:
    std::string m_path;
    std::string m_written;
    bool m_isTouched{true};
    Time m_next{};
};

} // namespace netboxit::middleware
