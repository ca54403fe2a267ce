// SPDX-License-Identifier: GPL-2.0-or-later
#include "state_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

using namespace netboxit::middleware;

namespace
{

std::string Read(const std::string& path)
{
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

TEST(StateFile, IsWrittenAtOnceAndThenEachSecondAtMost)
{
    const auto folder = std::filesystem::path(::testing::TempDir()) / "c2ml-state-file";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directory(folder);
    const auto path = folder / "state.json";
    StateFile file(path);
    EXPECT_LE(file.Due(), 0);
    file.Write("first", 10 * SECOND);
    EXPECT_EQ(Read(path), "first");
    EXPECT_EQ(file.Due(), NEVER) << "nothing changed";
    file.Touch();
    EXPECT_EQ(file.Due(), 11 * SECOND);
    file.Write("second", 11 * SECOND);
    EXPECT_EQ(Read(path), "second");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1) << "nothing else is left in the folder";
    std::filesystem::remove_all(folder);
    EXPECT_THROW(file.Write("third", 12 * SECOND), std::system_error);
}
