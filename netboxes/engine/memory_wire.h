// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "descriptor.h"
#include "memory_ring.h"

#include <memory>

namespace netboxit
{

/// Which end of a wire: that of the plan (docs/architecture.md, "Memory wire").
enum class WireEnd
{
    Left,
    Right,
};

/// What an end of a wire is made of.
struct MemoryWireFiles
{
    std::string bell;
    std::string farBell;
    std::string incoming;
    std::string outgoing;
};

/// One end of a memory wire: frames pass between two processes without the kernel, which is only asked to
/// wake a consumer that sleeps. It knows nothing of ns-3: netboxes and the Click router share it.
class MemoryWire
{
  public:
    /// `subject` begins the messages of errors. Throws std::system_error, or std::runtime_error when another
    /// process holds this end.
    MemoryWire(const std::string& subject, const std::string& folder, WireEnd end);
    MemoryWire(const std::string& subject, const MemoryWireFiles& files);

    RingReader& Incoming()
    {
        return m_incoming;
    }

    RingWriter& Outgoing()
    {
        return m_outgoing;
    }

    const RingReader& Incoming() const
    {
        return m_incoming;
    }

    const RingWriter& Outgoing() const
    {
        return m_outgoing;
    }

    /// Becomes readable when a frame comes between BeginWait() and EndWait().
    int Descriptor() const
    {
        return m_bell.Get();
    }

    /// False when a frame is here already.
    bool BeginWait()
    {
        m_waiting = m_incoming.Sleep();
        return m_waiting;
    }

    void EndWait();
    /// Makes the descriptor wait again. To be called when it was readable and no frame was there: a peer may
    /// have rung late, or for nothing.
    void Silence();

    /// Lets the far end see what was put into Outgoing(), and wakes it if it sleeps.
    void Publish();
    /// Wakes the far end, whether there is a frame or not.
    void RingFar();

  private:
    netboxit::Descriptor m_bell;
    netboxit::Descriptor m_farBell;
    RingReader m_incoming;
    RingWriter m_outgoing;
    bool m_waiting{false};
};

/// Both ends of a wire between two threads of this process.
struct MemoryWirePair
{
    std::unique_ptr<MemoryWire> left;
    std::unique_ptr<MemoryWire> right;
};

/// Makes such a wire, which nobody else can see. Throws std::system_error.
MemoryWirePair WireWithin(const std::string& subject);

} // namespace netboxit
