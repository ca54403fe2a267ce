// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "descriptor.h"

#include <string>

namespace netboxit::click
{

/// Catches what is written to stderr while it lives. Click reports errors of configurations and handlers
/// there and nowhere else.
class StderrCapture
{
  public:
    StderrCapture();
    StderrCapture(const StderrCapture&) = delete;
    StderrCapture& operator=(const StderrCapture&) = delete;
    ~StderrCapture();

    std::string Text() const;
    /// Writes to the real stderr.
    void Tell(const std::string& text) const;

  private:
    Descriptor m_file;
    Descriptor m_stderr;
};

} // namespace netboxit::click
