// SPDX-License-Identifier: GPL-2.0-or-later
#include "event_journal.h"

#include "kernel_clock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace netboxit::middleware
{

namespace
{

/// Bytes of a file, as a netbox's journal has at most (netboxes/engine/journal.h).
constexpr std::uint64_t LONGEST = 64 << 20;

Descriptor Opened(const std::string& path)
{
    return {::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644),
            "cannot write the journal to " + path};
}

} // namespace

EventJournal::EventJournal(const std::string& path)
    : m_file(Opened(path)), m_began(ReadClock(CLOCK_MONOTONIC)),
      m_length(static_cast<std::uint64_t>(Checked(::lseek(m_file.Get(), 0, SEEK_END), "cannot find the journal's end")))
{
    const Json first{{"began_ns", ReadClock(CLOCK_REALTIME)}};
    // The last line of a daemon that was killed may have no end.
    Write((m_length > 0 ? "\n" : "") + first.dump());
}

void EventJournal::Add(const std::string& link, const Announced& announced)
{
    Json line{{"at_s", static_cast<double>(ReadClock(CLOCK_MONOTONIC) - m_began) / SECOND}, {"event", announced.event}};
    line.update(announced.details);
    line["link"] = link;
    Write(line.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void EventJournal::Write(const std::string& line)
{
    try
    {
        const auto text = line + '\n';
        if (m_length + text.size() > LONGEST)
        {
            throw std::system_error(EFBIG, std::generic_category(), "the journal");
        }
        WriteWhole(m_file.Get(), text.data(), text.size(), m_length, "writing the journal");
        m_length += text.size();
    }
    catch (const std::system_error& error)
    {
        if (std::exchange(m_isComplete, false))
        {
            std::fprintf(stderr, "c2ml: from now on events are missing: %s\n", error.what());
        }
    }
}

} // namespace netboxit::middleware
