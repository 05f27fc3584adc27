// login FOLDER SERVICE USER STEP...: acts as a login program, with the PAM configuration in a folder.
//
// Answers PAM's questions with lines of standard input. Each step prints NAME=RESULT. Steps: authenticate, account,
// establish, refresh, open, close, change. user:NAME sets the user, as sudo does between authentication and session.
// attempt authenticates and continues after a failure, as login(1) does. finger:FILE creates that file, which stands
// for a touch of the reader. After resume:PROCESS a signal interrupts the program ten times a second, and each one
// resumes that process.

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <security/pam_appl.h>

static int answer(int count, const struct pam_message **messages, struct pam_response **responses, void *data) {
    (void)messages, (void)data;
    *responses = calloc(count, sizeof **responses);
    for (int index = 0; index < count; index++) {
        char line[4096];
        if (messages[index]->msg_style != PAM_PROMPT_ECHO_OFF) continue;
        if (fgets(line, sizeof line, stdin) == NULL) return PAM_CONV_ERR;
        line[strcspn(line, "\n")] = 0;
        (*responses)[index].resp = strdup(line);
    }
    return PAM_SUCCESS;
}

static volatile pid_t stopped;

static void resume(int signal) {
    (void)signal;
    kill(stopped, SIGCONT);
}

static int resume_often(const char *process) {
    struct sigaction action = {.sa_handler = resume};
    struct itimerval tenth = {{0, 100000}, {0, 100000}};
    stopped = atoi(process);
    return sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &tenth, NULL) == 0 ? PAM_SUCCESS : PAM_ABORT;
}

static int make(const char *path) {
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    return file >= 0 && close(file) == 0 ? PAM_SUCCESS : PAM_ABORT;
}

static int perform(pam_handle_t *pam, const char *step) {
    if (strncmp(step, "user:", 5) == 0) return pam_set_item(pam, PAM_USER, step + 5);
    if (strncmp(step, "finger:", 7) == 0) return make(step + 7);
    if (strncmp(step, "resume:", 7) == 0) return resume_often(step + 7);
    if (strcmp(step, "authenticate") == 0 || strcmp(step, "attempt") == 0) return pam_authenticate(pam, 0);
    if (strcmp(step, "account") == 0) return pam_acct_mgmt(pam, 0);
    if (strcmp(step, "establish") == 0) return pam_setcred(pam, PAM_ESTABLISH_CRED);
    if (strcmp(step, "refresh") == 0) return pam_setcred(pam, PAM_REFRESH_CRED);
    if (strcmp(step, "open") == 0) return pam_open_session(pam, 0);
    if (strcmp(step, "close") == 0) return pam_close_session(pam, 0);
    if (strcmp(step, "change") == 0) return pam_chauthtok(pam, 0);
    return PAM_ABORT;
}

int main(int count, char **arguments) {
    struct pam_conv conversation = {answer, NULL};
    pam_handle_t *pam = NULL;
    if (count < 5) return 64;
    int status = pam_start_confdir(arguments[2], arguments[3], &conversation, arguments[1], &pam);
    for (int index = 4; index < count && status == PAM_SUCCESS; index++) {
        int result = perform(pam, arguments[index]);
        printf("%s=%d\n", arguments[index], result);
        // The next step handles an expired password.
        int goes_on = result == PAM_NEW_AUTHTOK_REQD || strcmp(arguments[index], "attempt") == 0;
        status = goes_on ? PAM_SUCCESS : result;
    }
    pam_end(pam, status);
    return status == PAM_SUCCESS ? 0 : 1;
}
