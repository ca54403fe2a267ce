// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>

namespace netboxit::multiservice
{

/// Pacing (section 6.2.1): after so many packets the layer takes no more until they would all be sent at the link's nominal
/// bandwidth, counted from the first of them. So queues build above the layer, where IP's disciplines are.
///
/// With one queue above, pacing makes several services as one: a packet waits there behind those of all services (section 8.2.1).
class Pacer
{
  public:
    /// `batch` packets at once; 0: no pacing.
    void SetBatch(std::uint32_t batch)
    {
        m_batch = batch;
    }

    bool IsOpen(std::int64_t now) const
    {
        return m_batch == 0 || now >= m_opens || m_taken < m_batch;
    }

    /// A packet is taken, whose nominal time on the link is so long (ns).
    void Take(std::int64_t now, std::int64_t nominal)
    {
        if (now >= m_opens || m_taken >= m_batch)
        {
            m_taken = 0;
            m_opens = now;
        }
        ++m_taken;
        m_opens += nominal;
    }

    /// When it opens again, if it is not open now.
    std::int64_t Opens() const
    {
        return m_opens;
    }

  private:
    std::uint32_t m_batch{0};
    std::uint32_t m_taken{0}; ///< of the batch
    std::int64_t m_opens{0};
};

} // namespace netboxit::multiservice
