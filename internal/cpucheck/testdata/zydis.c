// Decodes code with Zydis. First it writes the names of all mnemonics, each of 32 bytes, after their
// number; then, for each request (size, stride, code), records of length and mnemonic: with stride 0 of one
// instruction after the other, else of those at its multiples. Length 0: not an instruction (1 byte is skipped).
#include <Zydis/Zydis.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
	ZydisDecoder d;
	ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	uint32_t n = ZYDIS_MNEMONIC_MAX_VALUE + 1;
	fwrite(&n, 4, 1, stdout);
	for (uint32_t i = 0; i < n; i++) {
		char name[32] = {0};
		strncpy(name, ZydisMnemonicGetString(i), 31);
		fwrite(name, 32, 1, stdout);
	}
	fflush(stdout);
	uint32_t head[2];
	while (fread(head, sizeof head, 1, stdin)) {
		uint8_t *code = malloc(head[0] + 1);
		if (fread(code, 1, head[0], stdin) != head[0])
			return 1;
		for (uint32_t at = 0; at < head[0];) {
			ZydisDecodedInstruction in;
			uint16_t rec[2] = {0, 0};
			uint32_t room = head[1] ? head[1] : head[0] - at;
			if (ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&d, 0, code + at, room, &in))) {
				rec[0] = in.length;
				rec[1] = in.mnemonic;
			}
			fwrite(rec, sizeof rec, 1, stdout);
			at += head[1] ? head[1] : rec[0] ? rec[0] : 1;
		}
		free(code);
		fflush(stdout);
	}
	return 0;
}
