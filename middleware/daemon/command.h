// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <vector>

namespace netboxit::middleware
{

/// What a program of the system answered.
struct Outcome
{
    int status; ///< with which it ended; 128 and the signal where one ended it, as shells say
    std::string output;
    std::string error;
};

/// Runs a program, by its absolute path, with `input` and in the C locale, and waits for its end. Throws std::system_error where
/// it cannot be started.
Outcome RunCommand(const std::vector<std::string>& words, const std::string& input = "");

} // namespace netboxit::middleware
