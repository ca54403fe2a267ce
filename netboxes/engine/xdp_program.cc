// SPDX-License-Identifier: GPL-2.0-or-later
#include "xdp_program.h"

#include <sys/syscall.h>

#include <array>
#include <bpf/bpf.h>
#include <cstddef>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/if_link.h>

namespace netboxit
{

namespace
{

constexpr bpf_insn Instruction(int code, int destination, int source, int offset, int immediate)
{
    return {.code = static_cast<std::uint8_t>(code),
            .dst_reg = static_cast<std::uint8_t>(destination),
            .src_reg = static_cast<std::uint8_t>(source),
            .off = static_cast<std::int16_t>(offset),
            .imm = immediate};
}

constexpr bpf_insn Move(int destination, int source)
{
    return Instruction(BPF_ALU64 | BPF_MOV | BPF_X, destination, source, 0, 0);
}

constexpr bpf_insn Set(int destination, int value)
{
    return Instruction(BPF_ALU64 | BPF_MOV | BPF_K, destination, 0, 0, value);
}

constexpr bpf_insn Call(int function)
{
    return Instruction(BPF_JMP | BPF_CALL, 0, 0, 0, function);
}

constexpr bpf_insn LoadField(int destination, int context, std::size_t offset)
{
    return Instruction(BPF_LDX | BPF_MEM | BPF_W, destination, context, static_cast<int>(offset), 0);
}

/// So few instructions need no compiler:
///
///     stamp = bpf_ktime_get_tai_ns();
///     if (bpf_xdp_adjust_meta(context, -8) >= 0 && context->data_meta + 8 <= context->data)
///         *(u64*)context->data_meta = stamp;
///     return bpf_redirect_map(sockets, context->rx_queue_index, XDP_PASS);
///
/// Frames go to the kernel's own stack while no socket is in the map.
std::array<bpf_insn, 19> Instructions(int sockets)
{
    constexpr int STAMP = XdpProgram::STAMP;
    return {Move(BPF_REG_6, BPF_REG_1),
            Call(BPF_FUNC_ktime_get_tai_ns),
            Move(BPF_REG_7, BPF_REG_0),
            Move(BPF_REG_1, BPF_REG_6),
            Set(BPF_REG_2, -STAMP),
            Call(BPF_FUNC_xdp_adjust_meta),
            Instruction(BPF_JMP | BPF_JSLT | BPF_K, BPF_REG_0, 0, 6, 0),
            LoadField(BPF_REG_2, BPF_REG_6, offsetof(xdp_md, data_meta)),
            LoadField(BPF_REG_3, BPF_REG_6, offsetof(xdp_md, data)),
            Move(BPF_REG_4, BPF_REG_2),
            Instruction(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_4, 0, 0, STAMP),
            Instruction(BPF_JMP | BPF_JGT | BPF_X, BPF_REG_4, BPF_REG_3, 1, 0),
            Instruction(BPF_STX | BPF_MEM | BPF_DW, BPF_REG_2, BPF_REG_7, 0, 0),
            LoadField(BPF_REG_2, BPF_REG_6, offsetof(xdp_md, rx_queue_index)),
            Instruction(BPF_LD | BPF_IMM | BPF_DW, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, sockets),
            Instruction(0, 0, 0, 0, 0),
            Set(BPF_REG_3, XDP_PASS),
            Call(BPF_FUNC_redirect_map),
            Instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)};
}

std::string Remedy(int error)
{
    switch (error)
    {
    case EPERM:
    case EACCES:
        return " (it takes CAP_BPF and CAP_NET_ADMIN)";
    case EOPNOTSUPP:
        return " (its driver has no native XDP)";
    case ERANGE:
        return " (the MTU of the far end is too large for native XDP: at most 3506 with 4 KiB pages)";
    case ENOSPC:
        return " (the far end has more transmit queues than this one has receive queues)";
    case EBUSY:
    case EEXIST:
        return " (it has an XDP program already)";
    default:
        return "";
    }
}

int LinkTo(int program, unsigned interface)
{
    LIBBPF_OPTS(bpf_link_create_opts, options);
    options.flags = XDP_FLAGS_DRV_MODE;
    return ::bpf_link_create(program, static_cast<int>(interface), BPF_XDP, &options);
}

} // namespace

XdpProgram::XdpProgram(const NetworkInterface& interface)
{
    const auto place = interface.Place() + ": ";
    const int sockets =
        ::bpf_map_create(BPF_MAP_TYPE_XSKMAP, "netboxit", sizeof(int), sizeof(int), 1, nullptr);
    m_sockets = {sockets, place + "cannot make a map of AF_XDP sockets" + Remedy(errno)};
    const auto instructions = Instructions(m_sockets.Get());
    const int program = ::bpf_prog_load(
        BPF_PROG_TYPE_XDP, "netboxit", "GPL", instructions.data(), instructions.size(), nullptr);
    m_program = {program, place + "cannot load its XDP program" + Remedy(errno)};
    const int link = LinkTo(m_program.Get(), interface.Index());
    m_link = {link, place + "cannot attach an XDP program in native mode" + Remedy(errno)};
}

void GiveUpAttaching()
{
    const std::string tried = "cannot give up CAP_NET_ADMIN and CAP_BPF";
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> rights{};
    Checked(static_cast<int>(::syscall(SYS_capget, &header, rights.data())), tried);
    for (const auto capability : {CAP_NET_ADMIN, CAP_BPF})
    {
        auto& [effective, permitted, inheritable] = rights[CAP_TO_INDEX(capability)];
        for (auto* set : {&effective, &permitted, &inheritable})
        {
            *set &= ~static_cast<std::uint32_t>(CAP_TO_MASK(capability));
        }
    }
    Checked(static_cast<int>(::syscall(SYS_capset, &header, rights.data())), tried);
}

} // namespace netboxit
