// SPDX-License-Identifier: GPL-2.0-or-later
#include "scoreboard.h"

#include <utility>

namespace netboxit
{

namespace
{

using Segments = std::list<ns3::TcpTxItem*>;

/// An explicit instantiation may name private members ([temp.spec.general]); each has a function of its own, which is found by
/// its tag.
template <typename Tag, typename Tag::Member member>
struct Disclosure
{
    friend constexpr typename Tag::Member Of(Tag)
    {
        return member;
    }
};

struct SentList
{
    using Member = Segments ns3::TcpTxBuffer::*;
    friend constexpr Member Of(SentList);
};

struct HighestArrival
{
    using Member = std::pair<Segments::const_iterator, ns3::SequenceNumber32> ns3::TcpTxBuffer::*;
    friend constexpr Member Of(HighestArrival);
};

struct LostBytes
{
    using Member = std::uint32_t ns3::TcpTxBuffer::*;
    friend constexpr Member Of(LostBytes);
};

struct BytesSentAgain
{
    using Member = std::uint32_t ns3::TcpTxBuffer::*;
    friend constexpr Member Of(BytesSentAgain);
};

struct FirstByte
{
    using Member = ns3::SequenceNumber32 ns3::TcpTxItem::*;
    friend constexpr Member Of(FirstByte);
};

struct LostMark
{
    using Member = bool ns3::TcpTxItem::*;
    friend constexpr Member Of(LostMark);
};

template struct Disclosure<SentList, &ns3::TcpTxBuffer::m_sentList>;
template struct Disclosure<HighestArrival, &ns3::TcpTxBuffer::m_highestSack>;
template struct Disclosure<LostBytes, &ns3::TcpTxBuffer::m_lostOut>;
template struct Disclosure<BytesSentAgain, &ns3::TcpTxBuffer::m_retrans>;
template struct Disclosure<FirstByte, &ns3::TcpTxItem::m_startSeq>;
template struct Disclosure<LostMark, &ns3::TcpTxItem::m_lost>;

} // namespace

Scoreboard::Scoreboard(ns3::Ptr<ns3::TcpTxBuffer> buffer) : m_buffer(std::move(buffer))
{
}

const Segments& Scoreboard::Segments() const
{
    return (*m_buffer).*Of(SentList());
}

ns3::SequenceNumber32 Scoreboard::Begin(const ns3::TcpTxItem& segment)
{
    return segment.*Of(FirstByte());
}

ns3::SequenceNumber32 Scoreboard::End(const ns3::TcpTxItem& segment)
{
    return Begin(segment) + ns3::SequenceNumber32(segment.GetSeqSize());
}

bool Scoreboard::IsLost(const ns3::TcpTxItem& segment)
{
    return segment.*Of(LostMark());
}

void Scoreboard::MarkLost(ns3::TcpTxItem& segment)
{
    ForgetRetransmission(segment);
    if (!IsLost(segment))
    {
        segment.*Of(LostMark()) = true;
        (*m_buffer).*Of(LostBytes()) += segment.GetSeqSize();
    }
}

void Scoreboard::ForgetRetransmission(ns3::TcpTxItem& segment)
{
    if (segment.m_retrans)
    {
        segment.m_retrans = false;
        (*m_buffer).*Of(BytesSentAgain()) -= segment.GetSeqSize();
    }
}

void Scoreboard::SendAgainUpTo(const ns3::TcpTxItem& segment)
{
    auto& highest = (*m_buffer).*Of(HighestArrival());
    if (const auto end = Begin(segment) + ns3::SequenceNumber32(1); highest.second < end)
    {
        // No segment: the next one that is acknowledged selectively takes the place.
        highest = {Segments().end(), end};
    }
}

ns3::SequenceNumber32 Scoreboard::Head() const
{
    return m_buffer->HeadSequence();
}

bool Scoreboard::HasArrivals() const
{
    return m_buffer->GetSacked() > 0;
}

bool Scoreboard::HasRetransmissions() const
{
    return m_buffer->GetRetransmitsCount() > 0;
}

std::uint32_t Scoreboard::Arrived() const
{
    return m_buffer->GetSacked();
}

std::uint32_t Scoreboard::Lost() const
{
    return m_buffer->GetLost();
}

} // namespace netboxit
