// SPDX-License-Identifier: GPL-2.0-or-later
#include "router_interface.h"

#include "router.h"

#include <utility>

namespace netboxit
{

/// What Click has of the interface.
class RouterInterface::Opened : public click::Device
{
  public:
    explicit Opened(RouterInterface& interface) : m_interface(interface)
    {
        m_interface.m_opened = this;
    }

    ~Opened() override
    {
        m_interface.m_opened = nullptr;
    }

    /// Counts a frame that has come; false when it is none for Click.
    bool Takes(std::size_t bytes)
    {
        return Accept(bytes);
    }

    /// The next frame that Receive() returns.
    void Offer(std::vector<std::uint8_t> frame)
    {
        m_offered = std::move(frame);
        m_frame = m_offered;
        m_waits = true;
    }

    int Descriptor() const override
    {
        return -1;
    }

    std::span<const Bytes> Receive() override
    {
        return {&m_frame, std::exchange(m_waits, false) ? 1U : 0U};
    }

    void Send(Bytes frame) override
    {
        if (!m_interface.m_carrier)
        {
            ++m_statistics.sendDrops;
            return;
        }
        ++m_statistics.sent;
        m_interface.m_other->Arrive(frame, m_interface.m_router.Now().count());
    }

    void Flush() override
    {
    }

    click::DeviceStatistics Read() override
    {
        return m_statistics;
    }

  private:
    RouterInterface& m_interface;
    std::vector<std::uint8_t> m_offered;
    Bytes m_frame;
    bool m_waits{false};
};

RouterInterface::RouterInterface(Router& router, const std::string& node, const std::string& name, VirtualWires& wires)
    : m_router(router), m_wireName(node + "." + name), m_wires(wires), m_number(wires.Add(*this))
{
}

std::unique_ptr<click::Device> RouterInterface::Open()
{
    return std::make_unique<Opened>(*this);
}

void RouterInterface::Arrive(Bytes frame, std::int64_t)
{
    if (m_opened != nullptr && m_opened->Takes(frame.size()))
    {
        m_arrived.emplace_back(frame.begin(), frame.end());
        m_wires.Notice(m_number);
    }
}

void RouterInterface::Enter()
{
    auto frame = std::move(m_arrived.front());
    m_arrived.pop_front();
    if (m_opened != nullptr)
    {
        m_opened->Offer(std::move(frame));
        m_router.Run();
    }
}

const std::string& RouterInterface::WireName() const
{
    return m_wireName;
}

} // namespace netboxit
