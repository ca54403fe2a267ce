// SPDX-License-Identifier: GPL-2.0-or-later
#include "memory_wire.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>

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

MemoryWireFiles FilesOf(const std::string& folder, WireEnd end)
{
    const auto name = [&](const char* left, const char* right)
    { return folder + (end == WireEnd::Left ? left : right); };
    return {.bell = name("/left.bell", "/right.bell"),
            .farBell = name("/right.bell", "/left.bell"),
            .incoming = name("/right-to-left.ring", "/left-to-right.ring"),
            .outgoing = name("/left-to-right.ring", "/right-to-left.ring")};
}

/// Where this process finds an open file again by a name.
std::string NameOf(const Descriptor& file)
{
    return "/proc/self/fd/" + std::to_string(file.Get());
}

Descriptor MakeRing(const std::string& subject)
{
    Descriptor file(::memfd_create("netboxit-ring", MFD_CLOEXEC), subject + ": cannot make a ring");
    RingMemory::Format(file.Get(), subject + ": cannot make a ring");
    return file;
}

} // namespace

MemoryWire::MemoryWire(const std::string& subject, const std::string& folder, WireEnd end)
    : MemoryWire(subject, FilesOf(folder, end))
{
}

MemoryWire::MemoryWire(const std::string& subject, const MemoryWireFiles& files)
    : m_bell(HoldBell(subject, files.bell)), m_farBell(OpenBell(subject, files.farBell)),
      m_incoming(subject, files.incoming), m_outgoing(subject, files.outgoing)
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
    if (m_outgoing.Publish())
    {
        RingFar();
    }
}

void MemoryWire::RingFar()
{
    // A bell that cannot take another byte wakes whoever waits for it as well as one that can.
    if (::write(m_farBell.Get(), "", 1) < 0 && errno != EAGAIN)
    {
        Checked(-1, "cannot ring the bell of a memory wire");
    }
}

MemoryWirePair WireWithin(const std::string& subject)
{
    const auto tried = subject + ": cannot make a bell";
    std::array<int, 2> pipes;
    Checked(::pipe2(pipes.data(), O_CLOEXEC), tried);
    const Descriptor leftBell(pipes[0], tried);
    const Descriptor leftInlet(pipes[1], tried);
    Checked(::pipe2(pipes.data(), O_CLOEXEC), tried);
    const Descriptor rightBell(pipes[0], tried);
    const Descriptor rightInlet(pipes[1], tried);
    const auto toRight = MakeRing(subject);
    const auto toLeft = MakeRing(subject);
    const MemoryWireFiles left{NameOf(leftBell), NameOf(rightBell), NameOf(toLeft), NameOf(toRight)};
    const MemoryWireFiles right{NameOf(rightBell), NameOf(leftBell), NameOf(toRight), NameOf(toLeft)};
    return {std::make_unique<MemoryWire>(subject, left), std::make_unique<MemoryWire>(subject, right)};
}

} // namespace netboxit
