/* A program defines test: what it does with its input, which 0 bytes follow. main.c
   explores it on standard input, loop.c runs the same object file natively on every input. */
void test(unsigned char *in);
