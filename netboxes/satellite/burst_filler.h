// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "encapsulation.h"
#include "waveforms.h"

#include "../queueing/queue.h"

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
    /// Called for each packet that is lost before it is sent.
    using DropCallback = std::function<void(const Packet&, Loss reason)>;
    /// How a packet must be modulated and coded to reach its receivers: an index into the profiles.
    using Coding = std::function<std::size_t(const Packet&)>;

    /// Packets of one traffic class.
    struct Amount
    {
        std::size_t packets{};
        std::uint64_t bytes{}; ///< of layer 3
    };

    /// The queue is the parameter `queue`; `stream` is the number of the random stream that its discipline draws from.
    BurstFiller(const SegmentSetup& setup,
                std::int64_t stream,
                const Encapsulation& encapsulation,
                std::vector<Profile> profiles,
                Coding coding,
                Departure departure,
                DropCallback dropped);

    BurstFiller(const BurstFiller&) = delete;
    BurstFiller& operator=(const BurstFiller&) = delete;

    bool Carries(const Frame& frame) const
    {
        return m_encapsulation.Carries(frame);
    }
    /// Puts a packet into the queue, in front of a channel of `rate` (bit/s). False when no more waits than before.
    bool Push(const Packet& packet, double rate);
    /// Another queue, as queue.py dumps it; throws OutOfRange and then changes nothing.
    void SetQueue(const Json& said, double rate);
    /// Gives up what has waited here for longer than LONGEST_WAIT, or was begun and is older than LONGEST_LIFE.
    void DropOld();
    /// Gives up all that waits, and what is begun.
    void DropAll(Loss reason);
    /// Nothing is left to be sent.
    bool IsEmpty() const
    {
        return !m_packer.IsBusy() && !m_next && m_queue.IsEmpty();
    }
    /// To be called as a codeword begins: finds the packet that it begins with. False when there is none: the queue may drop all that
    /// waits.
    bool FindNext();
    /// How the next codeword is modulated and coded. Only after FindNext found something.
    std::size_t NextProfile() const;
    /// Fills the next codeword, of the profile NextProfile(), and returns how many bytes of it are used.
    std::uint32_t Fill(ns3::Time sent);

    /// What of a traffic class is not begun.
    const Amount& NotBegun(ClassId trafficClass) const
    {
        return m_notBegun[trafficClass];
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
    /// The queue's statistics: ../queueing/README.md.
    Json ReadQueue() const;
    void ResetStatistics();

  private:
    /// A packet that is not begun is neither waiting nor next any more.
    void Leave(const Packet& packet);
    void Lose(const Packet& packet, Loss reason);

    Frames& m_frames;
    const Encapsulation& m_encapsulation;
    std::vector<Profile> m_profiles;
    Coding m_coding;
    Departure m_departure;
    DropCallback m_dropped;
    Packer m_packer;
    std::vector<Amount> m_notBegun; ///< by traffic class
    queueing::Queue<Packet> m_queue;
    std::optional<Packet> m_next; ///< has left the queue and begins with the next codeword
    std::uint64_t m_codeword{};   ///< sent so far
    std::uint64_t m_begunIn{};    ///< codeword in which the current packet begins
};

} // namespace netboxit
