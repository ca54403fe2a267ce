// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "announced.h"
#include "descriptor.h"

namespace netboxit::middleware
{

/// What happened to the parts of a host, one JSON object a line, as a netbox's journal has it (docs/architecture.md, "Journal"). A
/// daemon that is started again goes on in the same file, with a time of its own.
class EventJournal
{
  public:
    /// Its time 0 is now. Throws std::system_error where the file cannot be opened.
    explicit EventJournal(const std::string& path);

    /// What the disk refuses is lost, and said once.
    void Add(const std::string& link, const Announced& announced);

  private:
    void Write(const std::string& line);

    Descriptor m_file;
    Time m_began;
    std::uint64_t m_length; ///< bytes
    bool m_isComplete{true};
};

} // namespace netboxit::middleware
