// SPDX-License-Identifier: GPL-2.0-or-later
#include "event_journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace netboxit::click
{

namespace
{

/// What the first line of a journal says; nothing where there is none, or where it is later than `now`: anybody in the node may have written it.
std::optional<std::chrono::nanoseconds> BeganBefore(int file, std::chrono::nanoseconds now)
{
    std::array<char, 256> start{};
    const auto size = ::pread(file, start.data(), start.size(), 0);
    const std::string_view text(start.data(), size < 0 ? 0 : static_cast<std::size_t>(size));
    const auto line = nlohmann::json::parse(text.substr(0, text.find('\n')), nullptr, false);
    if (!line.is_object() || !line.contains("began_ns") || !line["began_ns"].is_number_unsigned() ||
        line["began_ns"].get<std::uint64_t>() > static_cast<std::uint64_t>(now.count()))
    {
        return std::nullopt;
    }
    return std::chrono::nanoseconds(line["began_ns"].get<std::int64_t>());
}

} // namespace

EventJournal::EventJournal(const std::string& path, std::chrono::nanoseconds now)
    : m_began(now)
{
    if (!path.empty())
    {
        // A pipe that somebody in the node put there must not hold up packets.
        m_file.emplace(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0644),
                       "cannot write the journal to " + path);
        // Of what is no file nothing is counted but what is written here.
        m_length = static_cast<std::uint64_t>(std::max<off_t>(::lseek(m_file->Get(), 0, SEEK_END), 0));
        if (const auto before = BeganBefore(m_file->Get(), now))
        {
            m_began = *before;
        }
        else
        {
            Write({{"began_ns", m_began.count()}});
        }
    }
}

void EventJournal::Add(const std::string& interface,
                       std::string_view event,
                       const nlohmann::json& details,
                       std::chrono::nanoseconds now)
{
    nlohmann::json line{{"at_s", Since(now)}, {"event", event}, {"station", interface}};
    line.update(details);
    Write(line);
}

void EventJournal::Sample(const nlohmann::json& statistics, std::chrono::nanoseconds now)
{
    if (m_length < LONGEST / 2)
    {
        Write({{"at_s", Since(now)}, {"statistics", statistics}});
    }
    else if (!std::exchange(m_isHalfFull, true))
    {
        std::fprintf(stderr, "click-router: the journal is half full, and from now on only events are written to it\n");
    }
}

double EventJournal::Since(std::chrono::nanoseconds now) const
{
    return std::chrono::duration<double>(now - m_began).count();
}

void EventJournal::Write(const nlohmann::json& line)
{
    if (!m_file)
    {
        return;
    }
    const auto text = (m_isCut ? "\n" : "") + line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
    const bool isTooLong = m_length + text.size() > LONGEST;
    const auto written = isTooLong ? 0 : ::write(m_file->Get(), text.data(), text.size());
    const bool isWhole = written == static_cast<ssize_t>(text.size());
    m_isCut = !isWhole && (written > 0 || m_isCut);
    m_length += written > 0 ? static_cast<std::uint64_t>(written) : 0;
    if (!isWhole && !m_isRefused)
    {
        m_isRefused = true;
        std::fprintf(stderr,
                     "click-router: from now on events are missing in the journal: %s\n",
                     std::strerror(isTooLong ? EFBIG : written < 0 ? errno : ENOSPC));
    }
}

} // namespace netboxit::click
