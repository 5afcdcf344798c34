// uses large parts of the kernel
#include "hostile.h"
int main() {
	char attr[128] = {0};
	uint32_t perf[32] = {1, 128};
	if (syscall(SYS_bpf, 0, attr, sizeof attr) >= 0) escaped("bpf");
	if (syscall(SYS_perf_event_open, perf, 0, -1, -1, 0) >= 0) escaped("perf_event_open");
	if (syscall(SYS_userfaultfd, 1) >= 0) escaped("userfaultfd");
	if (syscall(SYS_kexec_load, 0, 0, 0, 0) == 0) escaped("kexec");
	if (syscall(SYS_reboot, 0xfee1dead, 672274793, 0 /* no Ctrl-Alt-Del */, 0) == 0) escaped("reboot");
	if (syscall(SYS_delete_module, "none such", 0) < 0 && errno == ENOENT) escaped("delete_module");
	if (syscall(SYS_swapoff, "/none/such") < 0 && errno == ENOENT) escaped("swapoff");
	if (syscall(SYS_acct, "/none/such") < 0 && errno == ENOENT) escaped("acct");
	if (syscall(SYS_iopl, 3) == 0) escaped("iopl");
	if (syscall(SYS_syslog, 3, attr, sizeof attr) >= 0) escaped("syslog");
	if (syscall(SYS_vhangup) == 0) escaped("vhangup");
	if (syscall(SYS_modify_ldt, 0, attr, 16) >= 0) escaped("modify_ldt");
	if (syscall(447 /* memfd_secret */, 0) >= 0) escaped("memfd_secret");
	return 0;
}
