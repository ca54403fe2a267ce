// SPDX-License-Identifier: GPL-2.0-or-later
#include "instruction_counter.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace netboxit::queueing::tempest
{

InstructionCounter::InstructionCounter()
{
    perf_event_attr what{};
    what.type = PERF_TYPE_HARDWARE;
    what.size = sizeof what;
    what.config = PERF_COUNT_HW_INSTRUCTIONS;
    what.disabled = 1;
    what.exclude_kernel = 1;
    what.exclude_hv = 1;
    m_descriptor = static_cast<int>(syscall(SYS_perf_event_open, &what, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

InstructionCounter::~InstructionCounter()
{
    if (m_descriptor >= 0)
    {
        close(m_descriptor);
    }
}

void InstructionCounter::Start() const
{
    if (m_descriptor >= 0)
    {
        ioctl(m_descriptor, PERF_EVENT_IOC_ENABLE, 0);
    }
}

void InstructionCounter::Stop() const
{
    if (m_descriptor >= 0)
    {
        ioctl(m_descriptor, PERF_EVENT_IOC_DISABLE, 0);
    }
}

std::optional<std::uint64_t> InstructionCounter::Count() const
{
    std::uint64_t count = 0;
    if (m_descriptor < 0 || read(m_descriptor, &count, sizeof count) != sizeof count)
    {
        return std::nullopt;
    }
    return count;
}

} // namespace netboxit::queueing::tempest
