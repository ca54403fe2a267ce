// SPDX-License-Identifier: GPL-2.0-or-later
#include "loop.h"

#include <poll.h>

#include <csignal>
#include <sys/signalfd.h>

namespace netboxit
{

namespace
{

int OpenSignals()
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigprocmask(SIG_BLOCK, &signals, nullptr);
    return signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
}

bool InputEnded()
{
    pollfd input{STDIN_FILENO, POLLIN, 0};
    char byte;
    return ::poll(&input, 1, 0) > 0 && ::read(STDIN_FILENO, &byte, 1) == 0;
}

} // namespace

EndSignal::EndSignal() : m_descriptor(OpenSignals(), "cannot wait for signals by signalfd")
{
}

bool EndSignal::HasCome()
{
    signalfd_siginfo information;
    m_come = m_come || ::read(m_descriptor.Get(), &information, sizeof information) > 0 || (m_byInput && InputEnded());
    return m_come;
}

} // namespace netboxit
