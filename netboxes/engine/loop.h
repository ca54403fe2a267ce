// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "netbox.h"

namespace netboxit
{

/// Runs a netbox until it ends.
class Loop
{
  public:
    virtual ~Loop() = default;
    /// The exit status.
    virtual int Run() = 0;
};

/// SIGTERM and SIGINT as something to wait on, for as long as it lives.
class EndSignal
{
  public:
    EndSignal();

    int Descriptor() const
    {
        return m_descriptor.Get();
    }

    /// The end of what can be read from the standard input is such a signal, too: of a program that no signal reaches.
    void AlsoByInput()
    {
        m_byInput = true;
    }

    /// True once one of them has come. Does not wait.
    bool HasCome();

  private:
    netboxit::Descriptor m_descriptor;
    bool m_byInput{false};
    bool m_come{false};
};

/// The end signal came before the loop could begin.
struct Interrupted
{
};

} // namespace netboxit
