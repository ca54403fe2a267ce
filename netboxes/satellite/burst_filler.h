// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "transmit_queue.h"
#include "waveforms.h"

#include <functional>
#include <span>

namespace netboxit
{

/// A netbox remembers a frame for 30 s (segment.h). A packet that has not been begun this long after it entered is given up: the rest is
/// for its own codewords and its ways.
inline const ns3::Time LONGEST_WAIT = ns3::Seconds(20);
/// None arrives this long after it entered, but for a superframe.
inline const ns3::Time LONGEST_LIFE = ns3::Seconds(27);

/// A station's queue, cut by an encapsulation into codewords (bursts or BBFRAMEs).
class BurstFiller
{
  public:
    /// Called for each packet that a codeword completes, with the time at which the codeword will have been sent.
    using Departure = std::function<void(const Packet&, ns3::Time sent)>;
    /// Called for each packet that is given up before it is sent.
    using Dropped = std::function<void(const Packet&, Loss reason)>;
    /// How a packet must be modulated and coded to reach its receivers: an index into the profiles.
    using Coding = std::function<std::size_t(const Packet&)>;

    BurstFiller(const Encapsulation& encapsulation,
                std::vector<Profile> profiles,
                TransmitQueue queue,
                Coding coding,
                Departure departure,
                Dropped dropped);

    bool Carries(const Frame& frame) const
    {
        return m_encapsulation.Carries(frame);
    }
    bool Push(const Packet& packet, double limit)
    {
        DropOld();
        return m_queue.Push(packet, limit);
    }
    /// Gives up what has waited for longer than LONGEST_WAIT, or was begun and is older than LONGEST_LIFE.
    void DropOld();
    /// Gives up all that waits, and what is begun.
    void DropAll(Loss reason);
    /// Nothing is left to be sent.
    bool IsEmpty() const
    {
        return !m_packer.IsBusy() && m_queue.Packets() == 0;
    }
    /// How the next codeword is modulated and coded. Not when there is none.
    std::size_t NextProfile() const;
    /// Fills the next codeword, of the profile NextProfile(), and returns how many bytes of it are used.
    std::uint32_t Fill(ns3::Time sent);

    const TransmitQueue& Queue() const
    {
        return m_queue;
    }
    /// Bytes of the packet that is being sent, still to be sent.
    std::uint32_t BytesBegun() const
    {
        return m_packer.Left();
    }
    const Packet* Begun() const
    {
        return m_packer.Current();
    }
    const std::vector<Profile>& Profiles() const
    {
        return m_profiles;
    }
    const Encapsulation& GetEncapsulation() const
    {
        return m_encapsulation;
    }

  private:
    const Encapsulation& m_encapsulation;
    std::vector<Profile> m_profiles;
    TransmitQueue m_queue;
    Coding m_coding;
    Departure m_departure;
    Dropped m_dropped;
    Packer m_packer;
    std::uint64_t m_codeword{}; ///< sent so far
    std::uint64_t m_begunIn{};  ///< codeword in which the current packet begins
};

} // namespace netboxit
