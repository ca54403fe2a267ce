// SPDX-License-Identifier: GPL-2.0-or-later
#include "play_buffer.h"

#include <utility>

namespace netboxit
{

PlayBuffer::PlayBuffer(double first, double again, Tell tell) : m_needed(first), m_again(again), m_tell(std::move(tell))
{
}

void PlayBuffer::Advance(double now)
{
    if (m_playing)
    {
        const double played = now - m_now;
        if (played > m_level)
        {
            m_playing = false;
            m_needed = m_again;
            m_tell("stalled", m_now + m_level);
            m_level = 0;
        }
        else
        {
            m_level -= played;
        }
    }
    m_now = now;
}

void PlayBuffer::Fill(double now, double media)
{
    Advance(now);
    m_level += media;
    if (!m_playing && m_level >= m_needed)
    {
        m_playing = true;
        m_tell("playing", now);
    }
}

} // namespace netboxit
