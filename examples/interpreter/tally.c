// tally, a small language with a bytecode interpreter: an example of what symchef calibrate works on.
//
//	fn fib(n) { if n < 2 { return n; } return fib(n - 1) + fib(n - 2); }
//	let i = 0;
//	while i < 5 { print fib(i); set i = i + 1; }
//
// Values are integers; exists 'PATH' is 1 if there is such a file. tally FILE runs, tally -d FILE lists the bytecode.
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum op { CONST, GET, SET, ADD, SUB, MUL, REM, LESS, EQUAL, NOT, JUMP, UNLESS, CALL, RETURN, POP, PRINT, EXISTS, NOPS };

// Operand bytes of each instruction, behind its opcode.
static const char *const names[NOPS] = {"const", "get", "set", "add", "sub", "mul", "rem", "less", "equal", "not",
	"jump", "unless", "call", "return", "pop", "print", "exists"};
static const unsigned char operands[NOPS] = {[CONST] = 4, [GET] = 1, [SET] = 1, [JUMP] = 2, [UNLESS] = 2, [CALL] = 1, [EXISTS] = 1};

struct function {
	uint8_t *code;
	uint64_t size;
	char name[16];
	int params, locals;
};

struct frame {
	struct function *fn;
	const uint8_t *pc; // of the caller, to return to
	long *slots;
};

static struct function functions[64];
static char *strings[64], (*locals)[16];
static int nfunctions, nstrings, nlocals;
static struct function *fn; // being compiled
static const char *src;
static char word[256];

static void fail(const char *what) {
	fprintf(stderr, "tally: %s near \"%.20s\"\n", what, src);
	exit(1);
}

// The scanner: word is the present token.
static void next(void) {
	size_t n = 0;
	while (isspace((unsigned char)*src)) src++;
	if (isalnum((unsigned char)*src)) {
		while (isalnum((unsigned char)*src) && n < sizeof word - 1) word[n++] = *src++;
	} else if (*src == '\'') {
		do word[n++] = *src++; while (*src && *src != '\'' && n < sizeof word - 1);
		if (*src) src++;
	} else if (*src) {
		word[n++] = *src++;
		if (word[0] == '=' && *src == '=') word[n++] = *src++;
	}
	word[n] = 0;
}

static int is(const char *w) { return strcmp(word, w) == 0; }
static int accept(const char *w) { return is(w) ? next(), 1 : 0; }
static void expect(const char *w) { if (!accept(w)) fail(w); }

static void emit(int byte) {
	if (fn->size % 256 == 0) fn->code = realloc(fn->code, fn->size + 256);
	fn->code[fn->size++] = byte;
}
static uint64_t jump(enum op op) { emit(op); emit(0); emit(0); return fn->size; }
static void land(uint64_t from, uint64_t to) {
	int16_t d = to - from;
	memcpy(fn->code + from - 2, &d, 2);
}

static int local(int declare) {
	for (int i = 0; i < nlocals; i++) if (strcmp(locals[i], word) == 0) return i;
	if (!declare) fail("unknown name");
	snprintf(locals[nlocals], 16, "%.15s", word);
	if (nlocals >= fn->locals) fn->locals = nlocals + 1;
	return nlocals++;
}

static void expression(void);

static void primary(void) {
	if (isdigit((unsigned char)word[0])) {
		int32_t v = atoi(word);
		emit(CONST);
		for (int i = 0; i < 4; i++) emit(v >> 8 * i);
		next();
	} else if (accept("exists")) {
		emit(EXISTS);
		emit(nstrings);
		strings[nstrings++] = strdup(word + 1);
		next();
	} else if (accept("!")) {
		primary();
		emit(NOT);
	} else if (accept("(")) {
		expression();
		expect(")");
	} else {
		for (int i = 0; i < nfunctions; i++) {
			if (!is(functions[i].name)) continue;
			next();
			expect("(");
			for (int k = 0; k < functions[i].params; k++) {
				if (k) expect(",");
				expression();
			}
			expect(")");
			emit(CALL);
			emit(i);
			return;
		}
		emit(GET);
		emit(local(0));
		next();
	}
}

static void binary(int level) {
	static const struct { const char *text; int level; enum op op; } table[] = {
		{"<", 0, LESS}, {"==", 0, EQUAL}, {"+", 1, ADD}, {"-", 1, SUB}, {"*", 2, MUL}, {"%", 2, REM}};
	if (level == 3) {
		primary();
		return;
	}
	binary(level + 1);
again:
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		if (table[i].level != level || !accept(table[i].text)) continue;
		binary(level + 1);
		emit(table[i].op);
		goto again;
	}
}
static void expression(void) { binary(0); }

static void statement(void);
static void block(void) {
	expect("{");
	while (!accept("}")) statement();
}

static void function(void) {
	struct function *outer = fn;
	char (*names)[16] = locals;
	int n = nlocals;
	fn = &functions[nfunctions++];
	locals = calloc(256, 16);
	nlocals = 0;
	snprintf(fn->name, 16, "%.15s", word);
	next();
	expect("(");
	while (!accept(")")) {
		local(1);
		fn->params++;
		next();
		accept(",");
	}
	block();
	emit(CONST);
	for (int i = 0; i < 4; i++) emit(0);
	emit(RETURN);
	free(locals);
	fn = outer, locals = names, nlocals = n;
}

static void statement(void) {
	if (accept("fn")) {
		function();
	} else if (accept("while")) {
		uint64_t top = fn->size;
		expression();
		uint64_t out = jump(UNLESS);
		block();
		land(jump(JUMP), top);
		land(out, fn->size);
	} else if (accept("if")) {
		expression();
		uint64_t other = jump(UNLESS);
		block();
		if (accept("else")) {
			uint64_t end = jump(JUMP);
			land(other, fn->size);
			block();
			land(end, fn->size);
		} else {
			land(other, fn->size);
		}
	} else if (is("let") || accept("set")) {
		int declare = accept("let"), slot = local(declare);
		next();
		expect("=");
		expression();
		expect(";");
		emit(SET);
		emit(slot);
	} else {
		enum op op = accept("return") ? RETURN : accept("print") ? PRINT : POP;
		expression();
		expect(";");
		emit(op);
	}
}

static void run(void) {
	static long stack[4096];
	static struct frame frames[256];
	struct frame *f = frames;
	const uint8_t *pc = functions[0].code;
	long *sp = stack + functions[0].locals;
	f->fn = functions;
	f->slots = stack;
	for (;;) {
		switch ((enum op)*pc++) {
		case CONST: { int32_t v; memcpy(&v, pc, 4); pc += 4; *sp++ = v; break; }
		case GET: *sp++ = f->slots[*pc++]; break;
		case SET: f->slots[*pc++] = *--sp; break;
		case ADD: sp--; sp[-1] += *sp; break;
		case SUB: sp--; sp[-1] -= *sp; break;
		case MUL: sp--; sp[-1] *= *sp; break;
		case REM: if (*--sp == 0) fail("division by zero"); sp[-1] %= *sp; break;
		case LESS: sp--; sp[-1] = sp[-1] < *sp; break;
		case EQUAL: sp--; sp[-1] = sp[-1] == *sp; break;
		case NOT: sp[-1] = !sp[-1]; break;
		case JUMP: { int16_t d; memcpy(&d, pc, 2); pc += 2 + d; break; }
		case UNLESS: { int16_t d; memcpy(&d, pc, 2); pc += 2; if (!*--sp) pc += d; break; }
		case CALL: {
			struct function *callee = &functions[*pc++];
			if (f == frames + 255 || sp + 64 > stack + 4096) fail("too many calls");
			f++;
			f->fn = callee;
			f->pc = pc;
			f->slots = sp - callee->params;
			sp = f->slots + callee->locals;
			pc = callee->code;
			break;
		}
		case RETURN: {
			long v = sp[-1];
			if (f == frames) return;
			sp = f->slots;
			*sp++ = v;
			pc = f->pc;
			f--;
			break;
		}
		case POP: sp--; break;
		case PRINT: printf("%ld\n", *--sp); break;
		case EXISTS: *sp++ = access(strings[*pc++], F_OK) == 0; break;
		default: fail("bad opcode");
		}
	}
}

static void list(void) {
	for (int i = 0; i < nfunctions; i++) {
		const uint8_t *code = functions[i].code;
		printf("function %s %lu\n", functions[i].name, functions[i].size);
		for (uint64_t at = 0; at < functions[i].size; at += 1 + operands[code[at]]) {
			int16_t d;
			memcpy(&d, code + at + 1, 2);
			if (code[at] == JUMP || code[at] == UNLESS) printf("%lu %s %lu\n", at, names[code[at]], at + 3 + d);
			else printf("%lu %s\n", at, names[code[at]]);
		}
	}
}

int main(int argc, char **argv) {
	int listing = argc == 3 && strcmp(argv[1], "-d") == 0;
	static char text[1 << 16];
	FILE *in = argc == 2 + listing ? fopen(argv[argc - 1], "r") : NULL;
	if (!in) {
		fputs("usage: tally [-d] FILE\n", stderr);
		return 2;
	}
	text[fread(text, 1, sizeof text - 1, in)] = 0;
	fclose(in);
	src = text;
	fn = &functions[nfunctions++];
	strcpy(fn->name, "main");
	locals = calloc(256, 16);
	next();
	while (word[0]) statement();
	emit(CONST);
	for (int i = 0; i < 4; i++) emit(0);
	emit(RETURN);
	if (listing) list();
	else run();
	return 0;
}
