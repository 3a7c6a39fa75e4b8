/* The command, with the shared libLLVM and C library in every build: what is loaded before it (memory.c, disk.c, bug.c) can take their
   functions. */
int command_main(int argc, char **argv);

int main(int argc, char **argv)
{
    return command_main(argc, argv);
}
