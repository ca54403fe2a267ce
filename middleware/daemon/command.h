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

/// Of iproute2, in Debian with and without a merged /usr.
inline constexpr const char* TC = "/sbin/tc";
inline constexpr const char* IP = "/sbin/ip";

/// Runs a program, by its absolute path, with `input` and in the C locale, and waits for its end. Throws std::system_error where
/// it cannot be started.
Outcome RunCommand(const std::vector<std::string>& words, const std::string& input = "");

/// The output of a program that must succeed. Throws std::runtime_error with what it says where it does not.
std::string Answer(const std::vector<std::string>& words, const std::string& input = "");

} // namespace netboxit::middleware
