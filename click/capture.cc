// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>

namespace netboxit::click
{

StderrCapture::StderrCapture()
    : m_file(::memfd_create("messages", MFD_CLOEXEC), "a file in memory for Click's messages"),
      m_stderr(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), "keeping stderr")
{
    std::fflush(stderr);
    Checked(::dup2(m_file.Get(), STDERR_FILENO), "taking stderr");
}

StderrCapture::~StderrCapture()
{
    std::fflush(stderr);
    ::dup2(m_stderr.Get(), STDERR_FILENO);
}

std::string StderrCapture::Text() const
{
    std::fflush(stderr);
    const auto size = ::lseek(m_file.Get(), 0, SEEK_END);
    std::string text(size > 0 ? static_cast<std::size_t>(size) : 0, '\0');
    const auto count = ::pread(m_file.Get(), text.data(), text.size(), 0);
    text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return text;
}

void StderrCapture::Tell(const std::string& text) const
{
    ::dprintf(m_stderr.Get(), "%s", text.c_str());
}

} // namespace netboxit::click
