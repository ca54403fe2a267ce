// SPDX-License-Identifier: GPL-2.0-or-later
#include "memory_wire.h"

#include <fcntl.h>
#include <sys/file.h>

#include <array>
#include <utility>

namespace netboxit
{

namespace
{

Descriptor OpenBell(const std::string& subject, const std::string& path)
{
    // For both directions: so it neither waits for the far end nor breaks when that dies.
    return {::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC),
            subject + ": cannot open the bell " + path};
}

/// The bell of this end, which only one process may hold: two consumers would lose each other's frames.
Descriptor HoldBell(const std::string& subject, const std::string& path)
{
    auto bell = OpenBell(subject, path);
    Checked(::flock(bell.Get(), LOCK_EX | LOCK_NB),
            subject + ": another process holds this end of the wire (" + path + ")");
    return bell;
}

} // namespace

MemoryWire::MemoryWire(const std::string& subject, const std::string& folder, WireEnd end)
    : m_bell(HoldBell(subject, folder + (end == WireEnd::Left ? "/left.bell" : "/right.bell"))),
      m_farBell(OpenBell(subject, folder + (end == WireEnd::Left ? "/right.bell" : "/left.bell"))),
      m_incoming(subject, folder + (end == WireEnd::Left ? "/right-to-left.ring" : "/left-to-right.ring")),
      m_outgoing(subject, folder + (end == WireEnd::Left ? "/left-to-right.ring" : "/right-to-left.ring"))
{
}

void MemoryWire::EndWait()
{
    if (std::exchange(m_waiting, false) && m_incoming.Wake())
    {
        Silence();
    }
}

void MemoryWire::Silence()
{
    // What a peer rings beyond that is for the next time: it must not hold this end up.
    std::array<char, 4096> rings;
    if (::read(m_bell.Get(), rings.data(), rings.size()) < 0 && errno != EAGAIN)
    {
        Checked(-1, "cannot read the bell of a memory wire");
    }
}

void MemoryWire::Publish()
{
    // A bell that cannot take another byte wakes whoever waits for it as well as one that can.
    if (m_outgoing.Publish() && ::write(m_farBell.Get(), "", 1) < 0 && errno != EAGAIN)
    {
        Checked(-1, "cannot ring the bell of a memory wire");
    }
}

} // namespace netboxit
