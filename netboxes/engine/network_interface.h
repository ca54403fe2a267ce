// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "descriptor.h"

#include <cstdint>
#include <string>

namespace netboxit
{

/// A network interface by its name, there or not.
class NetworkInterface
{
  public:
    enum class State
    {
        Absent,
        Down,
        Up,
    };

    /// `subject` begins the messages of all errors ("port commander"). Throws std::runtime_error when no
    /// interface can have that name.
    NetworkInterface(std::string subject, std::string name);

    const std::string& Subject() const
    {
        return m_subject;
    }

    const std::string& Name() const
    {
        return m_name;
    }

    /// How messages begin: "port commander, interface commander".
    std::string Place() const
    {
        return m_subject + ", interface " + m_name;
    }

    State CurrentState() const;

    // Of an interface that is there; throw std::system_error.
    unsigned Index() const;
    std::uint32_t Mtu() const;
    unsigned ReceiveQueues() const;
    /// What it is made by: "veth", "vxlan", a NIC's driver; nothing where it has none to tell of.
    std::string Driver() const;

  private:
    std::string m_subject;
    std::string m_name;
    netboxit::Descriptor m_socket;
};

} // namespace netboxit
